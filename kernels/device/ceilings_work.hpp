// Work of kernels/device/ceilings.cuh by formula; threads: number in the whole grid.
#pragma once
#include "kernels/cases/work.hpp"

namespace tiersim::kernels {

constexpr Work device_copy_work(std::int64_t bytes) {
  Work work;
  work.read_bytes = bytes;
  work.written_bytes = bytes;
  work.requested_bytes = 2 * bytes;
  return work;
}

// over_link: true for a table in pinned host memory.
constexpr Work read_sum_work(std::int64_t bytes, std::int64_t threads, bool over_link) {
  Work work;
  (over_link ? work.link_read_bytes : work.read_bytes) = bytes;
  work.written_bytes = 4 * threads;
  work.requested_bytes = bytes + 4 * threads;
  return work;
}

// `count` distinct rows; each 16 B unit loads the number of its row.
constexpr Work row_gather_work(std::int64_t row_bytes, std::int64_t count, std::int64_t threads,
                               bool over_link) {
  Work work = read_sum_work(row_bytes * count, threads, over_link);
  work.read_bytes += 4 * count;
  work.requested_bytes += row_bytes / 16 * count * 4;
  return work;
}

constexpr Work pointer_chase_work(std::int64_t steps, bool over_link) {
  Work work;
  (over_link ? work.link_read_bytes : work.read_bytes) = 4 * steps;
  work.written_bytes = 4;
  work.requested_bytes = 4 * steps + 4;
  return work;
}

}  // namespace tiersim::kernels
