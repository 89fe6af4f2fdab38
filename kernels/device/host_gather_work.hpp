// Work of kernels/device/host_gather.cuh by formula.
#pragma once
#include "kernels/cases/work.hpp"

namespace tiersim::kernels {

// index_reads: loads of a row's number: one for each 16 B unit by loads, one by bulk copies, and
// none where the host knows the rows.
constexpr Work host_gather_work(std::int64_t count, std::int64_t row_bytes,
                                std::int64_t index_reads) {
  Work work;
  work.link_read_bytes = count * row_bytes;
  work.written_bytes = count * row_bytes;
  work.read_bytes = index_reads > 0 ? 4 * count : 0;
  work.requested_bytes = 2 * count * row_bytes + 4 * count * index_reads;
  return work;
}

}  // namespace tiersim::kernels
