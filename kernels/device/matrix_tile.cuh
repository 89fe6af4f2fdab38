// Operands of mma m16n8k16 from row-major bf16 tiles in shared memory, and the softmax on its
// accumulators. Rows of a tile are multiples of 128 B (or 64 B), and their 16-byte units are
// permuted by the row's number. The 8 rows that ldmatrix reads at one column are then in 8
// different bank groups.
#pragma once
#include "kernels/device/math.cuh"
#include "kernels/device/mma.cuh"

namespace tiersim::kernels {

// Byte offset of 16 B unit `unit` of row `row`, for rows of Units units.
template <int Units>
__device__ __forceinline__ int swizzled(int row, int unit) {
  static_assert(Units % 8 == 0 || Units == 4);
  const int exchange = Units == 4 ? row >> 1 & 3 : row & 7;
  return (row * Units + (unit ^ exchange)) * 16;
}

// A operand: 16 rows from `row`, columns 16 k and on.
template <int Units>
__device__ __forceinline__ void load_a(unsigned (&a)[4], const unsigned char* tile, int row,
                                       int k) {
  const int lane = lane_index();
  load_matrix<false>(a, tile + swizzled<Units>(row + lane % 16, 2 * k + lane / 16));
}

// Two B operands of A B^T: rows `row` + 0..7 are the columns of the first product, + 8..15 of the
// second.
template <int Units>
__device__ __forceinline__ void load_b_rows(unsigned (&b)[4], const unsigned char* tile, int row,
                                            int k) {
  const int lane = lane_index();
  load_matrix<false>(b,
                     tile + swizzled<Units>(row + lane % 8 + lane / 16 * 8, 2 * k + lane / 8 % 2));
}

// Two B operands of A B: 16 rows from `row` along the sum, columns 16 n + 0..7 and 16 n + 8..15.
template <int Units>
__device__ __forceinline__ void load_b_columns(unsigned (&b)[4], const unsigned char* tile, int row,
                                               int n) {
  const int lane = lane_index();
  load_matrix<true>(b, tile + swizzled<Units>(row + lane % 16, 2 * n + lane / 16));
}

// Both products of load_b_*().
__device__ __forceinline__ void mma_twice(float (&d0)[4], float (&d1)[4], const unsigned (&a)[4],
                                          const unsigned (&b)[4]) {
  const unsigned first[2] = {b[0], b[1]};
  const unsigned second[2] = {b[2], b[3]};
  mma(d0, a, first);
  mma(d1, a, second);
}

// Reductions over the four lanes that share rows of an accumulator.
__device__ __forceinline__ float row_max(float value) {
  value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, 1));
  return fmaxf(value, __shfl_xor_sync(kAllLanes, value, 2));
}
__device__ __forceinline__ float row_sum(float value) {
  value += __shfl_xor_sync(kAllLanes, value, 1);
  return value + __shfl_xor_sync(kAllLanes, value, 2);
}

}  // namespace tiersim::kernels
