// Joins the parts of attention over a sequence that was split (FlashDecoding's second kernel):
// out[row] = sum over splits of weight[split] partial[split], weight the softmax over the splits of
// their log-sum-exp.
#pragma once
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"

namespace tiersim::kernels {

constexpr int kCombineThreads = 128;
constexpr int kCombineColumns = 4 * kWarp;  // of a warp: 16 B a lane

// Number of blocks of combine_splits.
constexpr std::int64_t combine_blocks(int columns, std::int64_t rows) {
  const std::int64_t warps = rows * (columns / kCombineColumns);
  constexpr int kWarps = kCombineThreads / kWarp;
  return (warps + kWarps - 1) / kWarps;
}

// partial [splits][rows][D] fp32, each normalised by its own split's sum; lse [splits][rows] fp32,
// natural logarithm of that sum, minus infinity where the split is empty (its partial is then not
// read and need not be written); out [rows][D] bf16, zeros where all splits are empty.
// Launch: combine_blocks(D, rows) blocks of kCombineThreads, no shared memory; a warp takes 128
// columns of a row. Limiter: memory, but a few us at most: four loads of 16 B a lane in flight.
template <int D>
__global__ void __launch_bounds__(kCombineThreads)
    combine_splits(const float* partial, const float* lse, int splits, int rows, bf16* out) {
  static_assert(D % kCombineColumns == 0);
  constexpr int kParts = D / kCombineColumns;
  const std::int64_t warp =
      static_cast<std::int64_t>(blockIdx.x) * (kCombineThreads / kWarp) + warp_index();
  const std::int64_t row = warp / kParts;
  if (row >= rows) return;
  const std::int64_t at = row * D + warp % kParts * kCombineColumns + 4 * lane_index();

  float highest = kMinusInfinity;
  float weights = 0;
  float4 sum{0, 0, 0, 0};
  for (int first = 0; first < splits; first += kWarp) {
    // Lane i reads split first + i.
    const int mine = first + lane_index();
    const float level =
        mine < splits ? load(lse + std::int64_t{mine} * rows + row) : kMinusInfinity;
    const float peak = fmaxf(highest, warp_max(level));
    if (peak == kMinusInfinity) continue;
    const float before = exp2_fast((highest - peak) * kLog2E);
    const float weight = exp2_fast((level - peak) * kLog2E);
    highest = peak;
    weights = weights * before + warp_sum(weight);
    sum = float4{sum.x * before, sum.y * before, sum.z * before, sum.w * before};
    const unsigned filled = __ballot_sync(kAllLanes, level > kMinusInfinity);
    const int count = splits - first < kWarp ? splits - first : kWarp;
    for (int base = 0; base < count; base += 4) {
      float4 v[4];
      TS_UNROLL
      for (int i = 0; i < 4; ++i) {
        v[i] = float4{0, 0, 0, 0};
        if (base + i < count && (filled >> (base + i) & 1U) != 0) {
          v[i] = load(reinterpret_cast<const float4*>(
              partial + std::int64_t{first + base + i} * rows * D + at));
        }
      }
      TS_UNROLL
      for (int i = 0; i < 4; ++i) {
        const float w = __shfl_sync(kAllLanes, weight, (base + i) % kWarp);
        if (base + i >= count || (filled >> (base + i) & 1U) == 0) continue;
        sum.x = multiply_add(w, v[i].x, sum.x);
        sum.y = multiply_add(w, v[i].y, sum.y);
        sum.z = multiply_add(w, v[i].z, sum.z);
        sum.w = multiply_add(w, v[i].w, sum.w);
      }
    }
  }
  const float scale = weights > 0 ? 1.0F / weights : 0.0F;
  store(reinterpret_cast<uint2*>(out + at),
        uint2{pack_bf16(sum.x * scale, sum.y * scale), pack_bf16(sum.z * scale, sum.w * scale)});
}

}  // namespace tiersim::kernels
