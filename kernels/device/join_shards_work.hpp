// Work of kernels/device/join_shards.cuh by formula. Sums are not products, so no FLOPs count.
#pragma once
#include "kernels/cases/work.hpp"

namespace tiersim::kernels {

constexpr Work join_shards_work(std::int64_t numbers) {
  Work work;
  work.read_bytes = 2 * 2 * numbers;
  work.written_bytes = 2 * numbers;
  work.requested_bytes = work.read_bytes + work.written_bytes;
  return work;
}

}  // namespace tiersim::kernels
