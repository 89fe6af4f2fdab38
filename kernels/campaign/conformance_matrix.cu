// ldmatrix and mma.sync.
#include "kernels/campaign/conformance.hpp"
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/device/mma.cuh"

namespace tiersim::kernels::conformance {
namespace {

// 32 rows of 16 bytes from `in`, 48 bytes apart, and the fragments of each lane.
template <unsigned Count, bool Transposed>
__global__ void fragments(const std::uint32_t* in, std::uint32_t* out) {
  constexpr unsigned kRowWords = 12;
  auto* row = shared_memory<std::uint32_t>() + kRowWords * threadIdx.x;
  for (unsigned i = 0; i < 4; ++i) row[i] = load(in + 4U * threadIdx.x + i);
  __syncthreads();
  const unsigned other = (31U - threadIdx.x) % (8U * Count);
  unsigned registers[Count];
  load_matrix<Transposed>(registers, shared_memory<std::uint32_t>() + kRowWords * other);
  for (unsigned i = 0; i < Count; ++i) store(out + Count * threadIdx.x + i, registers[i]);
}

// Integers of -4..4 as bf16: every sum of products is exact in any order.
__device__ unsigned small_pair(std::uint32_t word) {
  const auto small = [](std::uint32_t bits) { return static_cast<float>(bits % 9U) - 4.0F; };
  return pack_bf16(small(word & 0xffffU), small(word >> 16U));
}

// Two products in sequence, D += A B with different operands; four warps.
__global__ void products(const std::uint32_t* in, std::uint32_t* out) {
  float d[4];
  for (unsigned i = 0; i < 4; ++i) {
    d[i] = static_cast<float>(static_cast<int>(load(in + 16U * threadIdx.x + i) >> 20U));
  }
  for (unsigned step = 0; step < 2; ++step) {
    const std::uint32_t* from = in + 16U * threadIdx.x + 4U + 6U * step;
    unsigned a[4];
    unsigned b[2];
    for (unsigned i = 0; i < 4; ++i) a[i] = small_pair(load(from + i));
    for (unsigned i = 0; i < 2; ++i) b[i] = small_pair(load(from + 4U + i));
    mma(d, a, b);
  }
  for (unsigned i = 0; i < 4; ++i) store(out + 4U * threadIdx.x + i, __float_as_uint(d[i]));
}

}  // namespace

void add_matrix_probes(Probes& probes) {
  const Geometry one{dim3(1), dim3(32), 32 * 48};
  const auto add = [&](const char* name, Kernel kernel, std::size_t count) {
    probes.push_back(probe(name, kernel, one, random_words(128, count), unwritten(32 * count)));
  };
  add("matrix.load_x4", fragments<4, false>, 4);
  add("matrix.load_x4_transposed", fragments<4, true>, 4);
  add("matrix.load_x2", fragments<2, false>, 2);
  add("matrix.load_x2_transposed", fragments<2, true>, 2);
  probes.push_back(probe("matrix.mma_m16n8k16", products, {dim3(1), dim3(128), 0},
                         random_words(std::size_t{16} * 128, 11), unwritten(std::size_t{4} * 128)));
}

}  // namespace tiersim::kernels::conformance
