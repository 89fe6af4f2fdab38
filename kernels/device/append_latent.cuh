// RMSNorm of the new token's latent slice, fused with its append to the cache.
//
// TPLA gives each shard a slice of the latent vector. RMSNorm is defined over the whole vector, so
// a shard estimates the mean square of the whole vector as `factor` times that of its slice. The
// factor comes from calibration and is 1 for a plain RMSNorm:
//   cache[l] = fresh[l] weight[l] / sqrt(factor sum(fresh[0..Latent)^2) / Latent + epsilon)
// The rope part is appended unchanged.
//
// Layouts  fresh [batch, Latent + Rope] In (bf16 or fp32); weight [Latent] bf16; lengths [batch]
//          int32, tokens in the cache before this one, below context; kv [batch, context,
//          Latent + Rope] bf16, or with a page table [pages, 64, Latent + Rope].
// Launch   ceil(batch / 4) blocks of kAppendThreads, no shared memory; a warp has a token.
// Limiter  the launch: a batch of 64 moves some 100 KB. From about 10^5 tokens on memory, with up
//          to 3 loads of 16 B a lane in flight.
#pragma once
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/device/mistakes.hpp"

namespace tiersim::kernels {

constexpr int kAppendThreads = 128;

template <class In>
struct AppendLatentArguments {
  const In* fresh;
  const bf16* weight;
  const int* lengths;
  const int* page_table;  // [batch, pages_per_sequence], or null
  bf16* kv;
  int batch;
  int context;  // rows of a sequence in kv without a page table
  int pages_per_sequence;
  float factor;
  float epsilon;
};

// Eight neighbouring numbers.
__device__ __forceinline__ void load_8(const bf16* from, float (&values)[8]) {
  const uint4 v = load(reinterpret_cast<const uint4*>(from));
  const unsigned pairs[4] = {v.x, v.y, v.z, v.w};
  TS_UNROLL
  for (int i = 0; i < 4; ++i) {
    values[2 * i] = low_float(pairs[i]);
    values[2 * i + 1] = high_float(pairs[i]);
  }
}
__device__ __forceinline__ void load_8(const float* from, float (&values)[8]) {
  TS_UNROLL
  for (int i = 0; i < 2; ++i) {
    const float4 v = load(reinterpret_cast<const float4*>(from) + i);
    values[4 * i] = v.x;
    values[4 * i + 1] = v.y;
    values[4 * i + 2] = v.z;
    values[4 * i + 3] = v.w;
  }
}
__device__ __forceinline__ void store_8(bf16* to, const float (&values)[8]) {
  store(reinterpret_cast<uint4*>(to),
        uint4{pack_bf16(values[0], values[1]), pack_bf16(values[2], values[3]),
              pack_bf16(values[4], values[5]), pack_bf16(values[6], values[7])});
}

// Offset of the first number of the token's row.
template <int Depth, class In>
__device__ __forceinline__ bf16* appended_row(const AppendLatentArguments<In>& arguments,
                                              int sequence) {
  constexpr int kPage = 64;
  const int position = load(arguments.lengths + sequence);
  std::int64_t row = std::int64_t{sequence} * arguments.context + position;
  if (arguments.page_table != nullptr) {
    const int page = load(arguments.page_table +
                          std::int64_t{sequence} * arguments.pages_per_sequence + position / kPage);
    row = std::int64_t{page} * kPage + position % kPage;
  }
  return arguments.kv + row * Depth;
}

template <int Latent, int Rope, class In, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(kAppendThreads)
    append_latent(const AppendLatentArguments<In> arguments) {
  constexpr int kChunks = Latent / (8 * kWarp);  // of 8 numbers, a lane
  static_assert(Latent % (8 * kWarp) == 0 && Rope % 8 == 0 && Rope <= 8 * kWarp);
  const int sequence = static_cast<int>(blockIdx.x) * (kAppendThreads / kWarp) + warp_index();
  if (sequence >= arguments.batch) return;
  const int lane = lane_index();
  const In* fresh = arguments.fresh + std::int64_t{sequence} * (Latent + Rope) + 8 * lane;
  float x[std::size_t{kChunks}][8];
  float rope[8];
  TS_UNROLL
  for (int c = 0; c < kChunks; ++c) load_8(fresh + 8 * kWarp * c, x[c]);
  if (lane < Rope / 8) load_8(fresh + Latent, rope);
  bf16* to = appended_row<Latent + Rope>(arguments, sequence) + 8 * lane;

  float squares = 0;
  TS_UNROLL
  for (int c = 0; c < kChunks; ++c) {
    TS_UNROLL
    for (int i = 0; i < 8; ++i) squares = multiply_add(x[c][i], x[c][i], squares);
  }
  squares = warp_sum < Planted == Mistake::lanes_not_paired ? kWarp / 2 : kWarp > (squares);
  const float scale =
      1.0F / sqrtf(arguments.factor * squares / static_cast<float>(Latent) + arguments.epsilon);
  TS_UNROLL
  for (int c = 0; c < kChunks; ++c) {
    float weight[8];
    load_8(arguments.weight + 8 * kWarp * c + 8 * lane, weight);
    TS_UNROLL
    for (int i = 0; i < 8; ++i) x[c][i] *= scale * weight[i];
    store_8(to + 8 * kWarp * c, x[c]);
  }
  if (lane < Rope / 8) store_8(to + Latent, rope);
}

}  // namespace tiersim::kernels
