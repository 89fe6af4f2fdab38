// ldmatrix and mma.sync m16n8k16 (bf16 operands, fp32 sums), sm_80 and later. All lanes of the warp
// take part. Lane l holds rows l/4 and l/4 + 8 and columns 2 (l%4) + {0, 1, 8, 9} of A, column l/4
// of B, and rows l/4 and l/4 + 8 and columns 2 (l%4) + {0, 1} of D (PTX ISA, matrix fragments for
// mma.m16n8k16).
#pragma once
#include "kernels/device/async_copy.cuh"
#include "kernels/device/platform.cuh"

namespace tiersim::kernels {

#if TS_ON_CARD
// Lane 8 i + r gives the address of row r of matrix i: 16 bytes of shared memory, 16 B aligned.
template <bool Transposed>
__device__ __forceinline__ void load_matrix(unsigned (&r)[4], const void* row) {
  if constexpr (Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
  }
}
template <bool Transposed>
__device__ __forceinline__ void load_matrix(unsigned (&r)[2], const void* row) {
  if constexpr (Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(shared_address(row))
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(shared_address(row))
                 : "memory");
  }
}
// D += A B
__device__ __forceinline__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#else
template <bool Transposed>
void load_matrix(unsigned (&r)[4], const void* row) {
  emulator::load_matrix_x4(r, row, Transposed);
}
template <bool Transposed>
void load_matrix(unsigned (&r)[2], const void* row) {
  emulator::load_matrix_x2(r, row, Transposed);
}
inline void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  emulator::multiply_m16n8k16(d, a, b);
}
#endif

}  // namespace tiersim::kernels
