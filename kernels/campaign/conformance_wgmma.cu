// wgmma: all numbers of columns, both orders of B, A from shared memory and from registers.
#include <string>

#include "kernels/campaign/conformance.hpp"
#include "kernels/device/hopper.cuh"
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/device/wgmma.cuh"

namespace tiersim::kernels::conformance {
namespace {

constexpr int kDepth = 128;  // two tiles of 64 along k
constexpr int kTileA = 64 * kDepth;

// An integer of -4..4: every sum of products is exact in any order.
__device__ float small(std::uint32_t word) {
  return static_cast<float>(word % 9U) - 4.0F;
}

// Offset of number (row, column) in tiles of 64 columns with swizzled 16-byte units.
__device__ int swizzled(int row, int column, int rows) {
  return column / 64 * rows * 64 + row * 64 + (column % 64 / 8 ^ row % 8) * 8 + column % 8;
}

// Copies a tile of rows x columns numbers of `in`, row-major, into shared memory.
__device__ void put(bf16* tile, const std::uint32_t* in, int rows, int columns) {
  for (int i = static_cast<int>(threadIdx.x); i < rows * columns; i += 128) {
    tile[swizzled(i / columns, i % columns, rows)] = to_bf16(small(load(in + i)));
  }
}

template <int Columns, Major BMajor>
__device__ std::uint64_t descriptor_b(const bf16* tile, int k) {
  if constexpr (BMajor == Major::k) {
    return matrix_descriptor(tile + k / 64 * Columns * 64 + k % 64, 16, 1024);
  } else {
    return matrix_descriptor(tile + k * 64, kDepth * 128, 1024);
  }
}

// D += A B over the whole depth, with a non-zero initial D.
template <int Columns, Major BMajor, bool FromRegisters>
__global__ void __launch_bounds__(128, 1) product(const std::uint32_t* in, std::uint32_t* out) {
  auto* a = shared_memory<bf16>();
  auto* b = shared_memory<bf16>(std::size_t{kTileA} * 2);
  put(a, in, 64, kDepth);
  put(b, in + kTileA, BMajor == Major::k ? Columns : kDepth, BMajor == Major::k ? kDepth : Columns);
  fence_async_proxy();
  __syncthreads();
  unsigned fragments[kDepth / 16][4];
  const int row = 16 * warp_index() + lane_index() / 4;
  TS_UNROLL
  for (int i = 0; i < kDepth / 4; ++i) {
    const std::uint32_t* from =
        in + (row + i % 2 * 8) * kDepth + i / 4 * 16 + lane_index() % 4 * 2 + i / 2 % 2 * 8;
    fragments[i / 4][i % 4] = pack_bf16(small(load(from)), small(load(from + 1)));
  }
  float d[std::size_t{Columns} / 2];
  TS_UNROLL
  for (int i = 0; i < Columns / 2; ++i) d[i] = static_cast<float>(i - row);
  wgmma_fence();
  TS_UNROLL
  for (int k = 0; k < kDepth; k += 16) {
    if constexpr (FromRegisters) {
      wgmma<Columns, BMajor>(d, fragments[k / 16], descriptor_b<Columns, BMajor>(b, k));
    } else {
      wgmma<Columns, BMajor>(d, matrix_descriptor(a + k / 64 * 4096 + k % 64, 16, 1024),
                             descriptor_b<Columns, BMajor>(b, k));
    }
  }
  wgmma_commit();
  wgmma_wait<0>();
  TS_UNROLL
  for (int i = 0; i < Columns / 2; ++i) {
    store(out + static_cast<int>(threadIdx.x) * (Columns / 2) + i, __float_as_uint(d[i]));
  }
}

// Two groups in flight, the second with accumulate false; the first is read while the second runs.
__global__ void __launch_bounds__(128, 1) groups(const std::uint32_t* in, std::uint32_t* out) {
  auto* a = shared_memory<bf16>();
  put(a, in, 64, kDepth);
  fence_async_proxy();
  __syncthreads();
  float first[32];
  float second[32];
  TS_UNROLL
  for (int i = 0; i < 32; ++i) first[i] = second[i] = static_cast<float>(i);
  const std::uint64_t left = matrix_descriptor(a, 16, 1024);
  const std::uint64_t right = matrix_descriptor(a + 4096, 16, 1024);
  wgmma_fence();
  wgmma<64, Major::k>(first, left, right);
  wgmma_commit();
  wgmma_fence();
  wgmma<64, Major::k>(second, right, left, false);
  wgmma<64, Major::k>(second, right, right, true);
  wgmma_commit();
  wgmma_wait<1>();
  TS_UNROLL
  for (int i = 0; i < 32; ++i) {
    store(out + static_cast<int>(threadIdx.x) * 64 + i, __float_as_uint(first[i]));
  }
  wgmma_wait<0>();
  TS_UNROLL
  for (int i = 0; i < 32; ++i) {
    store(out + static_cast<int>(threadIdx.x) * 64 + 32 + i, __float_as_uint(second[i]));
  }
}

template <int Columns, Major BMajor, bool FromRegisters>
void add(Probes& probes) {
  const std::string name = "wgmma.n" + std::to_string(Columns) +
                           (BMajor == Major::k ? ".b_k_major" : ".b_columns_major") +
                           (FromRegisters ? ".a_registers" : ".a_shared");
  constexpr std::size_t kNumbers = std::size_t{kTileA} + std::size_t{kDepth} * Columns;
  probes.push_back(probe(name, product<Columns, BMajor, FromRegisters>,
                         {dim3(1), dim3(128), kNumbers * 2}, random_words(kNumbers, Columns),
                         unwritten(std::size_t{64} * Columns)));
}

template <int Columns>
void add_all(Probes& probes) {
  add<Columns, Major::k, false>(probes);
  add<Columns, Major::k, true>(probes);
  add<Columns, Major::columns, false>(probes);
  add<Columns, Major::columns, true>(probes);
}

}  // namespace

void add_wgmma_probes(Probes& probes) {
  add_all<64>(probes);
  add_all<128>(probes);
  add_all<256>(probes);
  probes.push_back(probe("wgmma.two_groups", groups, {dim3(1), dim3(128), std::size_t{kTileA} * 2},
                         random_words(std::size_t{kTileA}, 23), unwritten(std::size_t{128} * 64)));
}

}  // namespace tiersim::kernels::conformance
