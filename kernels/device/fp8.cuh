// Numbers e4m3 (8 bits: sign, 4 of exponent with bias 7, 3 of fraction) as operands of kernels that
// run from sm_80 on, where no instruction knows them. Their bits are moved to those of bf16, which
// gives the number times 2^-120, and are multiplied by 2^120 exactly, whether normal or not.
// 0x7f and 0xff, which are NaN, become +-480: quantised caches hold none.
#pragma once
#include "kernels/device/math.cuh"

namespace tiersim::kernels {

constexpr float kE4m3Factor = 0x1p120F;

// Bytes 0 and 2 of a word, or 1 and 3, as a pair of bf16: the numbers times 2^-120.
__device__ __forceinline__ unsigned even_e4m3(unsigned word) {
  return (word << 4U & 0x07f007f0U) | (word << 8U & 0x80008000U);
}
__device__ __forceinline__ unsigned odd_e4m3(unsigned word) {
  return (word >> 4U & 0x07f007f0U) | (word & 0x80008000U);
}

// A pair of bf16 times 2^120.
__device__ __forceinline__ unsigned raise_e4m3(unsigned pair) {
#if TS_ON_CARD
  unsigned raised;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;"
      : "=r"(raised)
      : "r"(pair), "r"(0x7b807b80U), "r"(0x80008000U));  // 2^120, and -0 to keep signs of zeros
  return raised;
#else
  return pack_bf16(low_float(pair) * kE4m3Factor, high_float(pair) * kE4m3Factor);
#endif
}

// Four numbers e4m3 times their scale; factor: the scale times kE4m3Factor.
__device__ __forceinline__ uint2 raise_word(unsigned word, float factor) {
  const unsigned even = even_e4m3(word);
  const unsigned odd = odd_e4m3(word);
  return uint2{pack_bf16(low_float(even) * factor, low_float(odd) * factor),
               pack_bf16(high_float(even) * factor, high_float(odd) * factor)};
}

}  // namespace tiersim::kernels
