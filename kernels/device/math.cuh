// Counted arithmetic. A multiply-add of a product is written as multiply_add or dot4, so that the
// emulator counts it and tests can compare formulas with the count. Exponentials and sums are not
// counted.
#pragma once
#include "kernels/device/platform.cuh"

namespace tiersim::kernels {

#if TS_ON_CARD
__device__ __forceinline__ float multiply_add(float a, float b, float c) {
  return fmaf(a, b, c);
}
__device__ __forceinline__ int dot4(int a, int b, int c) {
  return __dp4a(a, b, c);
}
__device__ __forceinline__ float exp2_fast(float x) {  // ex2.approx: 2 ulp; -inf gives 0
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float log2_fast(float x) {
  return __log2f(x);
}
__device__ __forceinline__ float inverse_root(float x) {  // rsqrt.approx: 2 ulp
  return rsqrtf(x);
}
#else
// A fused multiply-add with one rounding, as on the card.
inline float multiply_add(float a, float b, float c) {
  emulator::count_multiply_adds(1);
  return std::fma(a, b, c);
}
// c + the dot product of four signed bytes.
inline int dot4(int a, int b, int c) {
  emulator::count_dot_multiply_adds(4);
  for (int i = 0; i < 4; ++i) {
    c += static_cast<int>(static_cast<std::int8_t>(a >> 8 * i)) *
         static_cast<int>(static_cast<std::int8_t>(b >> 8 * i));
  }
  return c;
}
inline float exp2_fast(float x) {
  return std::exp2(x);
}
inline float log2_fast(float x) {
  return std::log2(x);
}
inline float inverse_root(float x) {
  return 1.0F / std::sqrt(x);
}
#endif

constexpr float kLog2E = 1.4426950408889634F;  // exp(x) = exp2(x kLog2E)
constexpr float kLn2 = 0.6931471805599453F;
constexpr float kMinusInfinity = -__builtin_huge_valf();

__host__ __device__ __forceinline__ float to_float(bf16 value) {
  return __bfloat162float(value);
}
__host__ __device__ __forceinline__ bf16 to_bf16(float value) {
  return __float2bfloat16(value);
}
// The two numbers of a packed pair; the first is in the lower half.
__device__ __forceinline__ float low_float(unsigned pair) {
  return __uint_as_float(pair << 16);
}
__device__ __forceinline__ float high_float(unsigned pair) {
  return __uint_as_float(pair & 0xffff0000U);
}
__device__ __forceinline__ unsigned pack_bf16(float low, float high) {
#if TS_ON_CARD
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  const bf16 halves[2] = {to_bf16(low), to_bf16(high)};
  return std::bit_cast<unsigned>(halves);
#endif
}

// Reductions over the lanes of a warp; every lane gets the result. Width: lanes of a group, a power
// of two.
template <int Width = kWarp>
__device__ __forceinline__ float warp_sum(float value) {
  TS_UNROLL
  for (int step = Width / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}
template <int Width = kWarp>
__device__ __forceinline__ float warp_max(float value) {
  TS_UNROLL
  for (int step = Width / 2; step > 0; step /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, step));
  }
  return value;
}

}  // namespace tiersim::kernels
