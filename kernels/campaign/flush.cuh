// Reads five times L2, so that L2 holds none of the earlier data.
#pragma once
#include <cstdint>

#include "kernels/campaign/plan.hpp"
#include "kernels/device/ceilings.cuh"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels::bench {

class L2Flush {
 public:
  explicit L2Flush(std::int64_t l2_bytes)
      : units_(static_cast<std::int64_t>(kRotationOverL2) * l2_bytes / 16),
        buffer_(std::vector<uint4>(static_cast<std::size_t>(units_)), "flush"),
        sums_(static_cast<std::size_t>(kBlocks) * kSumThreads, "flush sums") {}

  void enqueue(Stream& stream) {
    launch(stream, &read_sum<4>, {dim3(kBlocks), dim3(kSumThreads)},
           static_cast<const uint4*>(buffer_.data()), units_, sums_.data());
  }

 private:
  static constexpr unsigned kBlocks = TS_ON_CARD ? 264 : 1;  // two a multiprocessor of an H200
  std::int64_t units_;
  DeviceArray<uint4> buffer_;
  DeviceArray<unsigned> sums_;
};

}  // namespace tiersim::kernels::bench
