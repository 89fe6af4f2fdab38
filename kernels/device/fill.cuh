// Fills an array with random numbers that depend only on the seed and the position, so that the
// host can compute any of them. The card makes the large inputs of timed cases, and the reference
// gets the sampled rows without a download.
#pragma once
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"

namespace tiersim::kernels {

// Number i of Random(seed).normal() (cases/random.hpp): about normal, mean 0, variance 1, |x| < 3.5
// (Irwin-Hall: four 16-bit uniforms of one SplitMix64 output). The same bits on host and card.
__host__ __device__ inline float random_normal_at(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  z ^= z >> 31U;
  const std::uint64_t sum =
      (z & 0xffffU) + (z >> 16U & 0xffffU) + (z >> 32U & 0xffffU) + (z >> 48U);
  // Integers below 2^24 and one product, so that a compiler has nothing to contract.
  return static_cast<float>(static_cast<int>(sum) - 2 * 65535) * 2.642852e-5F;
}

constexpr int kFillThreads = 256;

// to[i] = random_normal_at(seed, i) as bf16; count: a multiple of 8, 16 B a store. Any grid.
template <class T = bf16>
__global__ void __launch_bounds__(kFillThreads)
    fill_normal(T* to, std::int64_t count, std::uint64_t seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x * 8;
  for (std::int64_t at = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * 8; at < count;
       at += stride) {
    unsigned pair[4];
    TS_UNROLL
    for (int i = 0; i < 4; ++i) {
      const auto n = static_cast<std::uint64_t>(at + 2 * i);
      pair[i] = pack_bf16(random_normal_at(seed, n), random_normal_at(seed, n + 1));
    }
    store(reinterpret_cast<uint4*>(to + at), uint4{pair[0], pair[1], pair[2], pair[3]});
  }
}

}  // namespace tiersim::kernels
