// Matrix instructions with the operand layouts of the PTX ISA: ldmatrix, mma.sync m16n8k16, wgmma
// m64nNk16 with 128 B-swizzled operands in shared memory.
#pragma once
#include <cstdint>

namespace tiersim::emulator {

// Lane 8 i + r gives the address of row r of matrix i (16 bytes, 16 B aligned). Lane l receives
// columns 2 (l % 4) and the next of row l / 4 of each matrix; transposed: row and column exchanged.
void load_matrix_x4(unsigned (&registers)[4], const void* row, bool transposed);
void load_matrix_x2(unsigned (&registers)[2], const void* row, bool transposed);

// D[16,8] += A[16,16] B[16,8], bf16 to fp32, A row-major, B column-major.
void multiply_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]);

// A matrix descriptor of shared memory with 128 B swizzle. leading, stride: byte offsets as the PTX
// ISA defines them for the operand's major order.
std::uint64_t matrix_descriptor(const void* shared, int leading, int stride);

// Queues D[64,columns] (+)= A[64,16] B[16,columns] of the running warpgroup; executed by the wait.
void warpgroup_multiply(float* d, int columns, const unsigned* a, std::uint64_t descriptor_a,
                        std::uint64_t descriptor_b, bool b_transposed, bool accumulate);
void warpgroup_fence();
void warpgroup_commit();
void warpgroup_wait(int groups_left);

}  // namespace tiersim::emulator
