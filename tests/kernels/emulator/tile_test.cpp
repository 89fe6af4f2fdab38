// Tensor copies, transaction barrier and both wgmma products of an attention tile, together.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/cases/random.hpp"
#include "kernels/device/hopper.cuh"
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/device/mma.cuh"
#include "kernels/device/wgmma.cuh"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/launch.cuh"
#include "kernels/runtime/tensor_map.cuh"

namespace tiersim::kernels::tile_test {
namespace {

// out[64][256] = Q[64][320] K[64][320]^T scaled, times V = K[:][0..256): both products of a TPLA
// tile.
__global__ void __launch_bounds__(128, 1)
    tile(const __grid_constant__ TensorMap q_map, const __grid_constant__ TensorMap k_map,
         float scale, float* out) {
  auto* q = shared_memory<bf16>();
  auto* k = shared_memory<bf16>(std::size_t{5} * 8192);
  auto* barrier = shared_memory<std::uint64_t>(std::size_t{10} * 8192);
  if (threadIdx.x == 0) {
    barrier_init(barrier, 1);
    fence_barrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_arrive_expect(barrier, 10 * 8192);
    for (int s = 0; s < 5; ++s) {
      const int at = s * 4096;
      tensor_load(q + at, &q_map, barrier, s * 64, 0);
      tensor_load(k + at, &k_map, barrier, s * 64, 0);
    }
  }
  barrier_wait(barrier, 0);
  float s[32];
  wgmma_fence();
  TS_UNROLL
  for (int i = 0; i < 20; ++i) {
    const int at = i / 4 * 4096 + i % 4 * 16;
    wgmma<64, Major::k>(s, matrix_descriptor(q + at, 16, 1024), matrix_descriptor(k + at, 16, 1024),
                        i > 0);
  }
  wgmma_commit();
  wgmma_wait<0>();
  unsigned p[4][4];  // before the fence, which orders it before the products
  TS_UNROLL
  for (int j = 0; j < 16; ++j) {
    const int i = 8 * (j / 4) + 2 * (j & 1) + 4 * (j >> 1 & 1);
    p[j / 4][j % 4] = pack_bf16(s[i] * scale, s[i + 1] * scale);
  }
  float o[128];
  wgmma_fence();
  TS_UNROLL
  for (int j = 0; j < 4; ++j) {
    const int at = j * 16 * 64;
    wgmma<256, Major::columns>(o, p[j], matrix_descriptor(k + at, 8192, 1024), j > 0);
  }
  wgmma_commit();
  wgmma_wait<0>();
  const int row = 16 * warp_index() + lane_index() / 4;
  TS_UNROLL
  for (int i = 0; i < 128; ++i) {
    const int r = row + 8 * (i / 2 % 2);
    const int at = r * 256 + 8 * (i / 4) + 2 * (lane_index() % 4) + i % 2;
    store(out + at, o[i]);
  }
}

TEST(Tile, BothProductsAgreeWithFloat64) {
  Random random(3);
  std::vector<bf16> q(std::size_t{64} * 320);
  std::vector<bf16> k(std::size_t{64} * 320);
  for (bf16& v : q) v = to_bf16(random.normal());
  for (bf16& v : k) v = to_bf16(random.normal());
  DeviceArray<bf16> dq(q, "q");
  DeviceArray<bf16> dk(k, "k");
  DeviceArray<float> out(std::size_t{64} * 256, "out");
  Stream stream;
  emulator::machine().memory.clear();
  launch(stream, tile, {dim3(1), dim3(128), 10 * 8192 + 8},
         make_tensor_map(dq.data(), 64, 320, 640, 64, 64),
         make_tensor_map(dk.data(), 64, 320, 640, 64, 64), 0.05F, out.data());
  const std::vector<float> got = out.download();
  std::vector<double> scores(std::size_t{64} * 64);
  for (std::size_t at = 0; at < scores.size(); ++at) {
    for (std::size_t x = 0; x < 320; ++x) {
      scores[at] += double{to_float(q[at / 64 * 320 + x])} * double{to_float(k[at % 64 * 320 + x])};
    }
  }
  double wrong = 0;
  double size = 0;
  for (std::size_t at = 0; at < got.size(); ++at) {
    double sum = 0;
    for (std::size_t j = 0; j < 64; ++j) {
      sum += scores[at / 256 * 64 + j] * 0.05 * double{to_float(k[j * 320 + at % 256])};
    }
    const double error = double{got[at]} - sum;
    wrong += error * error;
    size += sum * sum;
  }
  EXPECT_LT(wrong, 1e-4 * size);
  const emulator::Traffic& traffic = emulator::machine().memory.traffic();
  EXPECT_EQ(traffic.matrix_multiply_adds, 64 * 64 * 320 + 64 * 64 * 256);
  EXPECT_EQ(traffic.read_bytes, 2 * 64 * 320 * 2);
  EXPECT_EQ(traffic.written_bytes, 64 * 256 * 4);
}

}  // namespace
}  // namespace tiersim::kernels::tile_test
