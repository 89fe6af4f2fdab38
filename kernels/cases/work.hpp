// What one launch of a kernel moves and computes, by formula. Each kernel states its own beside its
// code (kernels/device/*_work.hpp); a test compares every number with what the emulator counted,
// and the simulator's methods are held against the same formulas
// (tests/validation/kernel_work_test.cpp).
//
// Plain C++: neither CUDA nor the emulator is needed to read a formula.
#pragma once
#include <cstdint>

namespace tiersim::kernels {

struct Work {
  // Distinct bytes: each counted once however often it is asked for. [B]
  std::int64_t read_bytes = 0;       // of device memory
  std::int64_t written_bytes = 0;    // to device memory
  std::int64_t link_read_bytes = 0;  // of pinned host memory, over the link
  std::int64_t link_written_bytes = 0;
  // All bytes that load and store instructions and copies ask for, repeats included: what L2 sees.
  // [B]
  std::int64_t requested_bytes = 0;
  // Arithmetic of the products, two a multiply-add; exponentials, comparisons and sums are left
  // out, as the papers and vendors leave them out. [FLOP]
  std::int64_t flops = 0;         // that the result needs
  std::int64_t issued_flops = 0;  // with the padding of matrix tiles and of masked tails

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
