// wgmma: layouts of operands in shared memory and of fragments over the 128 threads, written from
// the PTX ISA ("Register Fragments and Shared Memory Matrix Layouts" of wgmma), and its misuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "kernels/cases/random.hpp"
#include "kernels/device/hopper.cuh"
#include "kernels/device/math.cuh"
#include "kernels/device/wgmma.cuh"
#include "tests/kernels/emulator/complaint.hpp"

namespace tiersim::kernels::wgmma_test {
namespace {

using ::testing::HasSubstr;

using Matrix = std::vector<float>;  // row-major

Matrix small_integers(int count, std::uint64_t seed) {
  Random random(seed);
  Matrix numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = static_cast<float>(random.below(9)) - 4.0F;
  return numbers;
}

// Offset of number (row, column) of a tile with 64 columns: rows have 128 bytes, whose 16-byte
// units are permuted by the row's number modulo 8. Tiles of 64 columns follow one another.
std::size_t swizzled(int row, int column, int rows) {
  const int unit = column % 64 / 8 ^ row % 8;
  const int at = column / 64 * rows * 64 + row * 64 + unit * 8 + column % 8;
  return static_cast<std::size_t>(at);
}

void put(bf16* tile, const Matrix& from, int rows, int columns) {
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const int at = row * columns + column;
      tile[swizzled(row, column, rows)] = to_bf16(from[static_cast<std::size_t>(at)]);
    }
  }
}

constexpr int kDepth = 128;  // two tiles of 64 along k
constexpr std::size_t kTileA = std::size_t{64} * kDepth * 2;

// A[64, 128] in shared memory or registers times B[128, Columns].
template <int Columns, Major BMajor, bool FromRegisters>
struct Product {
  Matrix a = small_integers(64 * kDepth, 1);
  Matrix b = small_integers(kDepth * Columns, 2);
  Matrix d = Matrix(64 * std::size_t{Columns});

  // B in its memory order: k-major stores B transposed, [Columns, 128].
  Matrix b_in_memory() const {
    if (BMajor == Major::columns) return b;
    Matrix transposed(b.size());
    for (std::size_t k = 0; k < kDepth; ++k) {
      for (std::size_t n = 0; n < Columns; ++n) transposed[n * kDepth + k] = b[k * Columns + n];
    }
    return transposed;
  }

  static std::uint64_t descriptor_b(const bf16* tile, int k) {
    if (BMajor == Major::k) {
      const int at = k / 64 * Columns * 64 + k % 64;
      return matrix_descriptor(tile + at, 16, 1024);
    }
    const int at = k * 64;
    return matrix_descriptor(tile + at, kDepth * 128, 1024);
  }

  // Fragments of A: mma.m16n8k16's of the 16 rows of this warp.
  void fragment(int k, unsigned (&registers)[4]) const {
    const int group = lane_index() >> 2;
    const int pair = lane_index() % 4 * 2;
    for (int i = 0; i < 4; ++i) {
      const int row = 16 * warp_index() + group + (i % 2 == 1 ? 8 : 0);
      const int column = k + pair + (i >= 2 ? 8 : 0);
      const auto at = static_cast<std::size_t>(row) * kDepth + static_cast<std::size_t>(column);
      registers[i] = pack_bf16(a[at], a[at + 1]);
    }
  }

  void run() {
    float sum[std::size_t{Columns} / 2];
    auto* tile_a = shared_memory<bf16>();
    auto* tile_b = shared_memory<bf16>(kTileA);
    if (threadIdx.x == 0) {
      put(tile_a, a, 64, kDepth);
      const Matrix in_memory = b_in_memory();
      put(tile_b, in_memory, BMajor == Major::k ? Columns : kDepth,
          BMajor == Major::k ? kDepth : Columns);
    }
    fence_async_proxy();
    __syncthreads();
    unsigned fragments[kDepth / 16][4];
    for (int k = 0; k < kDepth; k += 16) fragment(k, fragments[k / 16]);
    wgmma_fence();
    for (int k = 0; k < kDepth; k += 16) {
      if constexpr (FromRegisters) {
        wgmma<Columns, BMajor>(sum, fragments[k / 16], descriptor_b(tile_b, k), k > 0);
      } else {
        const int at = k / 64 * 4096 + k % 64;
        const std::uint64_t in_a = matrix_descriptor(tile_a + at, 16, 1024);
        wgmma<Columns, BMajor>(sum, in_a, descriptor_b(tile_b, k), k > 0);
      }
    }
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < Columns / 2; ++i) {
      const int row = 16 * warp_index() + (lane_index() >> 2) + (i % 4 >= 2 ? 8 : 0);
      const int column = 8 * (i / 4) + lane_index() % 4 * 2 + i % 2;
      const int at = row * Columns + column;
      d[static_cast<std::size_t>(at)] = sum[i];
    }
  }

  void expect_exact() {
    ASSERT_EQ(complaint({128, kTileA + kDepth * std::size_t{Columns} * 2}, [this] { run(); }), "");
    for (std::size_t m = 0; m < 64; ++m) {
      for (std::size_t n = 0; n < Columns; ++n) {
        double sum = 0;
        for (std::size_t k = 0; k < kDepth; ++k) {
          sum += double{a[m * kDepth + k]} * double{b[k * Columns + n]};
        }
        ASSERT_EQ(double{d[m * Columns + n]}, sum) << "row " << m << ", column " << n;
      }
    }
  }
};

template <class T>
class Wgmma : public ::testing::Test {};

using Forms = ::testing::Types<Product<64, Major::k, false>, Product<64, Major::columns, false>,
                               Product<64, Major::k, true>, Product<64, Major::columns, true>,
                               Product<128, Major::k, false>, Product<128, Major::columns, false>,
                               Product<128, Major::k, true>, Product<128, Major::columns, true>,
                               Product<256, Major::k, false>, Product<256, Major::columns, false>,
                               Product<256, Major::k, true>, Product<256, Major::columns, true>>;
TYPED_TEST_SUITE(Wgmma, Forms);

TYPED_TEST(Wgmma, IsTheProductInFloat64) {
  TypeParam().expect_exact();
}

// ---- misuse: a product of one tile with one wrong step

struct Steps {
  bool fenced = true;
  bool operands_shown = true;
  bool committed = true;
  bool waited = true;
  bool reads_early = false;
  bool writes_early = false;
  bool overwrites_operand = false;
  unsigned warpgroups = 1;
};

std::string misuse(const Steps& steps) {
  return complaint({128 * steps.warpgroups, std::size_t{2} * 8192}, [&] {
    auto* a = shared_memory<std::uint32_t>();
    auto* b = shared_memory<std::uint32_t>(8192);
    for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) a[i] = 0x3f803f80U;  // ones
    if (steps.operands_shown) fence_async_proxy();
    __syncthreads();
    float d[32] = {};
    if (steps.fenced) wgmma_fence();
    wgmma<64, Major::k>(d, matrix_descriptor(a, 16, 1024), matrix_descriptor(b, 16, 1024));
    if (steps.committed) wgmma_commit();
    if (steps.reads_early) {
      EXPECT_NE(d[5], d[5]);  // NaN
    }
    if (steps.writes_early) d[5] = 0;
    if (steps.overwrites_operand && threadIdx.x == 0) b[7] = 0;
    if (steps.waited) {
      wgmma_wait<0>();
      EXPECT_EQ(d[5], 16.0F);
    }
  });
}

TEST(WgmmaMisuse, NoneIsReportedOfARightSequence) {
  EXPECT_EQ(misuse({}), "");
  Steps two;
  two.warpgroups = 2;
  EXPECT_EQ(misuse(two), "");
}

TEST(WgmmaMisuse, WithoutFenceFails) {
  Steps steps;
  steps.fenced = false;
  EXPECT_THAT(misuse(steps), HasSubstr("wgmma without wgmma.fence"));
}

TEST(WgmmaMisuse, OperandsStoredWithoutProxyFenceFail) {
  Steps steps;
  steps.operands_shown = false;
  EXPECT_THAT(misuse(steps), HasSubstr("wgmma reads shared memory at offset"));
}

TEST(WgmmaMisuse, NeverWaitedForFails) {
  Steps steps;
  steps.waited = false;
  EXPECT_THAT(misuse(steps), HasSubstr("warpgroup products that nobody waited for"));
  steps.committed = false;
  EXPECT_THAT(misuse(steps), HasSubstr("warpgroup products that nobody waited for"));
}

TEST(WgmmaMisuse, AccumulatorsReadEarlyAreNaN) {
  Steps steps;
  steps.reads_early = true;
  EXPECT_EQ(misuse(steps), "");
}

TEST(WgmmaMisuse, AccumulatorsWrittenEarlyFail) {
  Steps steps;
  steps.writes_early = true;
  EXPECT_THAT(misuse(steps), HasSubstr("written while it was in flight"));
}

TEST(WgmmaMisuse, OperandOverwrittenBeforeTheWaitFails) {
  Steps steps;
  steps.overwrites_operand = true;
  EXPECT_THAT(misuse(steps), HasSubstr("or while it was in flight"));
}

// The content of the accumulators at the issue of the first product counts. A second group waits:
// after wait<1> the first result is complete and the second is not.
TEST(Wgmma, WaitLeavesTheNewestGroupInFlight) {
  const auto body = [] {
    auto* ones = shared_memory<std::uint32_t>();
    for (unsigned i = threadIdx.x; i < 2048; i += 128) ones[i] = 0x3f803f80U;
    fence_async_proxy();
    __syncthreads();
    const std::uint64_t tile = matrix_descriptor(ones, 16, 1024);
    float first[32];
    float second[32];
    for (int i = 0; i < 32; ++i) first[i] = second[i] = 100.0F;
    wgmma_fence();
    wgmma<64, Major::k>(first, tile, tile);
    wgmma<64, Major::k>(first, tile, tile);
    wgmma_commit();
    wgmma<64, Major::k>(second, tile, tile, false);
    wgmma_commit();
    wgmma_wait<1>();
    EXPECT_EQ(first[31], 132.0F);
    EXPECT_NE(second[31], second[31]);
    wgmma_wait<0>();
    EXPECT_EQ(second[31], 16.0F);
  };
  EXPECT_EQ(complaint({128, 8192}, body), "");
}

TEST(WgmmaMisuse, InABlockWithoutWholeWarpgroupsFails) {
  EXPECT_THAT(complaint({96}, [] { wgmma_fence(); }), HasSubstr("not made of whole warpgroups"));
}

TEST(WgmmaMisuse, ByAPartOfAWarpgroupFails) {
  const auto body = [] {
    float d[32];
    const std::uint64_t tile = matrix_descriptor(shared_memory<int>(), 16, 1024);
    wgmma_fence();
    if (threadIdx.x < 96) wgmma<64, Major::k>(d, tile, tile, false);
    wgmma_commit();
    wgmma_wait<0>();
  };
  EXPECT_THAT(complaint({128, 8192}, body), HasSubstr("by a part of a warpgroup only"));
}

TEST(WgmmaMisuse, ThreadsThatIssueDifferentProductsFail) {
  const auto body = [] {
    float d[32];
    const auto* tile = shared_memory<bf16>() + (threadIdx.x < 64 ? 0 : 16);
    const std::uint64_t operand = matrix_descriptor(tile, 16, 1024);
    wgmma_fence();
    wgmma<64, Major::k>(d, operand, operand, false);
    wgmma_commit();
    wgmma_wait<0>();
  };
  EXPECT_THAT(complaint({128, 8192}, body), HasSubstr("issue different wgmma"));
}

TEST(WgmmaMisuse, ThreadsThatWaitForDifferentCountsFail) {
  const auto body = [] {
    if (threadIdx.x < 64) {
      wgmma_wait<0>();
    } else {
      wgmma_wait<1>();
    }
  };
  EXPECT_THAT(complaint({128}, body), HasSubstr("wait for different numbers of wgmma groups"));
}

TEST(WgmmaMisuse, WaitByAPartOfAWarpgroupEndsInADeadlock) {
  const auto body = [] {
    if (threadIdx.x < 96) wgmma_wait<0>();
  };
  EXPECT_THAT(complaint({128}, body), HasSubstr("no thread can go on"));
}

TEST(WgmmaMisuse, DescriptorPastSharedMemoryFails) {
  const auto body = [] {
    float d[32];
    const std::uint64_t tile = matrix_descriptor(shared_memory<int>(4096), 16, 1024);
    wgmma_fence();
    wgmma<64, Major::k>(d, tile, tile, false);
    wgmma_commit();
    wgmma_wait<0>();
  };
  EXPECT_THAT(complaint({128, 8192}, body), HasSubstr("a matrix descriptor reads past shared"));
}

TEST(WgmmaMisuse, DescriptorOutsideSharedMemoryOrMisalignedFails) {
  EXPECT_THAT(complaint({128, 64}, [] { matrix_descriptor(shared_memory<int>(64), 16, 1024); }),
              HasSubstr("a matrix descriptor: 16 bytes do not lie in"));
  EXPECT_THAT(complaint({128, 64}, [] { matrix_descriptor(shared_memory<int>(8), 16, 1024); }),
              HasSubstr("a matrix descriptor: the address in shared memory is not aligned to 16"));
}

TEST(WgmmaMisuse, DescriptorOfAnotherSwizzleFails) {
  const auto body = [] {
    float d[32];
    wgmma_fence();
    wgmma<64, Major::k>(d, std::uint64_t{0}, std::uint64_t{0}, false);
    wgmma_commit();
    wgmma_wait<0>();
  };
  EXPECT_THAT(complaint({128, 8192}, body), HasSubstr("a matrix descriptor without 128 B swizzle"));
}

}  // namespace
}  // namespace tiersim::kernels::wgmma_test
