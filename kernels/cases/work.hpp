// Bytes and FLOPs of one launch of a kernel, by formula. Each kernel has its formula beside its
// code (kernels/device/*_work.hpp). A test compares every number with the counts of the emulator,
// and the simulator's methods are checked against the same formulas
// (tests/validation/kernel_work_test.cpp).
//
// Plain C++: formulas need neither CUDA nor the emulator.
#pragma once
#include <cstdint>

namespace tiersim::kernels {

struct Work {
  // Distinct bytes: each is counted once, however often it is read. [B]
  std::int64_t read_bytes = 0;       // of device memory
  std::int64_t written_bytes = 0;    // to device memory
  std::int64_t link_read_bytes = 0;  // of pinned host memory, over the link
  std::int64_t link_written_bytes = 0;
  // All bytes of load and store instructions and copies, repeats included: the traffic of L2. [B]
  std::int64_t requested_bytes = 0;
  // Arithmetic of the products: two FLOP a multiply-add. Exponentials, comparisons and sums are
  // left out, as in papers and data sheets. [FLOP]
  std::int64_t flops = 0;         // required by the result
  std::int64_t issued_flops = 0;  // including the padding of matrix tiles and masked tails

  friend constexpr Work operator+(Work a, const Work& b) {
    a.read_bytes += b.read_bytes;
    a.written_bytes += b.written_bytes;
    a.link_read_bytes += b.link_read_bytes;
    a.link_written_bytes += b.link_written_bytes;
    a.requested_bytes += b.requested_bytes;
    a.flops += b.flops;
    a.issued_flops += b.issued_flops;
    return a;
  }
  friend constexpr bool operator==(const Work&, const Work&) = default;
};

}  // namespace tiersim::kernels
