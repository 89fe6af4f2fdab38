// Products of eight neighbouring bf16 numbers of a row (16 bytes, one load) with fp32.
#pragma once
#include "kernels/device/math.cuh"

namespace tiersim::kernels {

__device__ __forceinline__ float dot8(const float (&a)[8], const uint4& b) {
  float sum = multiply_add(a[0], low_float(b.x), 0.0F);
  sum = multiply_add(a[1], high_float(b.x), sum);
  sum = multiply_add(a[2], low_float(b.y), sum);
  sum = multiply_add(a[3], high_float(b.y), sum);
  sum = multiply_add(a[4], low_float(b.z), sum);
  sum = multiply_add(a[5], high_float(b.z), sum);
  sum = multiply_add(a[6], low_float(b.w), sum);
  return multiply_add(a[7], high_float(b.w), sum);
}
__device__ __forceinline__ void add8(float (&to)[8], float factor, const uint4& b) {
  to[0] = multiply_add(factor, low_float(b.x), to[0]);
  to[1] = multiply_add(factor, high_float(b.x), to[1]);
  to[2] = multiply_add(factor, low_float(b.y), to[2]);
  to[3] = multiply_add(factor, high_float(b.y), to[3]);
  to[4] = multiply_add(factor, low_float(b.z), to[4]);
  to[5] = multiply_add(factor, high_float(b.z), to[5]);
  to[6] = multiply_add(factor, low_float(b.w), to[6]);
  to[7] = multiply_add(factor, high_float(b.w), to[7]);
}

}  // namespace tiersim::kernels
