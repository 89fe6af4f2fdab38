// Inputs of the screening cases, made on the card from numbers that the host can compute: INT8
// numbers, and the copy of K with the tokens of a component side by side.
#pragma once
#include "kernels/device/fill.cuh"
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"

namespace tiersim::kernels {

// Number i: near normal, in [-131070, 131070] / divisor. A divisor of 1024 fills the range of INT8.
// Larger ones give few distinct values and ties among the scores; above 131070 all are zero.
__host__ __device__ inline int random_int8_at(std::uint64_t seed, std::uint64_t i, int divisor) {
  return static_cast<int>(random_normal_at(seed, i) * 37837.2F) / divisor;
}

// count: a multiple of 16, 16 B a store. Any grid.
template <class T = std::int8_t>
__global__ void __launch_bounds__(kFillThreads)
    fill_int8(T* to, std::int64_t count, std::uint64_t seed, int divisor) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x * 16;
  for (std::int64_t at = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * 16; at < count;
       at += stride) {
    unsigned words[4] = {0, 0, 0, 0};
    TS_UNROLL
    for (int i = 0; i < 16; ++i) {
      const int value = random_int8_at(seed, static_cast<std::uint64_t>(at + i), divisor);
      words[i / 4] |= (static_cast<unsigned>(value) & 0xffU) << (8 * (i % 4));
    }
    store(reinterpret_cast<uint4*>(to + at), make_uint4(words[0], words[1], words[2], words[3]));
  }
}

// to[head][d][token] = from[head][token][d] where fill_normal(seed) made `from`; tokens: a multiple
// of 8. Any grid.
template <class T = bf16>
__global__ void __launch_bounds__(kFillThreads)
    fill_normal_transposed(T* to, std::int64_t heads, int tokens, int columns, std::uint64_t seed) {
  const std::int64_t units = heads * columns * (tokens / 8);
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t unit = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; unit < units;
       unit += stride) {
    const std::int64_t line = unit / (tokens / 8);
    const std::int64_t token = unit % (tokens / 8) * 8;
    const std::int64_t first = (line / columns * tokens + token) * columns + line % columns;
    unsigned pair[4];
    TS_UNROLL
    for (int i = 0; i < 4; ++i) {
      const auto n = static_cast<std::uint64_t>(first + 2 * i * columns);
      pair[i] = pack_bf16(random_normal_at(seed, n),
                          random_normal_at(seed, n + static_cast<std::uint64_t>(columns)));
    }
    store(reinterpret_cast<uint4*>(to + unit * 8), make_uint4(pair[0], pair[1], pair[2], pair[3]));
  }
}

}  // namespace tiersim::kernels
