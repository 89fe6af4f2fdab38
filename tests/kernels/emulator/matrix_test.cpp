// Lane layouts of ldmatrix and mma.sync, written from the PTX ISA instead of the emulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "kernels/cases/random.hpp"
#include "kernels/device/math.cuh"
#include "kernels/device/mma.cuh"
#include "tests/kernels/emulator/complaint.hpp"

namespace tiersim::kernels::matrix_test {
namespace {

using ::testing::HasSubstr;

// ---- ldmatrix (PTX ISA, "ldmatrix"): threads 8 i .. 8 i + 7 hold the row addresses of matrix i;
// of row r the four threads 4 r .. 4 r + 3 get two neighbouring numbers each, the first in the
// lower half of the register. With .trans each matrix is loaded in column-major order.

// Matrix m holds 1000 m + 10 row + column. Rows are 48 bytes apart and in reverse order, so that no
// result is right by chance.
constexpr int kRowBytes = 48;
std::uint16_t number(int matrix, int row, int column) {
  return static_cast<std::uint16_t>(1000 * matrix + 10 * row + column);
}
unsigned char* row_of(int matrix, int row) {
  const int at = (31 - 8 * matrix - row) * kRowBytes;
  return shared_memory<unsigned char>(static_cast<std::size_t>(at));
}

template <std::size_t Count, bool Transposed>
void expect_fragments() {
  std::array<std::array<unsigned, Count>, 32> got{};
  const auto body = [&] {
    const int lane = lane_index();
    for (int column = 0; column < 8; ++column) {
      const std::uint16_t value = number(lane / 8, lane % 8, column);
      const int at = 2 * column;
      std::memcpy(row_of(lane / 8, lane % 8) + at, &value, 2);
    }
    __syncwarp();
    unsigned registers[Count];
    // Lanes beyond 8 Count take no part in addressing: they may point anywhere.
    const bool points = lane < 8 * static_cast<int>(Count);
    load_matrix<Transposed>(registers, points ? row_of(lane / 8, lane % 8) : nullptr);
    std::copy_n(registers, Count, got[static_cast<std::size_t>(lane)].begin());
  };
  ASSERT_EQ(complaint({32, 32 * kRowBytes}, body), "");
  for (int lane = 0; lane < 32; ++lane) {
    for (int matrix = 0; matrix < static_cast<int>(Count); ++matrix) {
      const int group = lane >> 2;
      const int pair = (lane & 3) * 2;
      const unsigned low = Transposed ? number(matrix, pair, group) : number(matrix, group, pair);
      const unsigned high =
          Transposed ? number(matrix, pair + 1, group) : number(matrix, group, pair + 1);
      EXPECT_EQ(got[static_cast<std::size_t>(lane)][static_cast<std::size_t>(matrix)],
                low | high << 16)
          << "lane " << lane << ", matrix " << matrix;
    }
  }
}

TEST(LoadMatrix, GivesEachLaneTwoNeighboursOfItsRow) {
  expect_fragments<4, false>();
  expect_fragments<2, false>();
}

TEST(LoadMatrix, TransposedGivesEachLaneTwoNeighboursOfItsColumn) {
  expect_fragments<4, true>();
  expect_fragments<2, true>();
}

TEST(LoadMatrix, ChecksTheRowsItReads) {
  const auto load = [](std::size_t offset) {
    return complaint({32, 64}, [offset] {
      unsigned registers[2];
      load_matrix<false>(registers, shared_memory<unsigned char>(offset));
    });
  };
  EXPECT_EQ(load(48), "");
  EXPECT_THAT(load(56), HasSubstr("ldmatrix: 16 bytes do not lie in the block's shared memory"));
  EXPECT_THAT(load(8), HasSubstr("ldmatrix: the address in shared memory is not aligned to 16"));
}

TEST(LoadMatrix, OfTwoKindsInOneWarpFails) {
  const auto body = [] {
    unsigned registers[2];
    if (lane_index() < 16) {
      load_matrix<false>(registers, shared_memory<int>());
    } else {
      load_matrix<true>(registers, shared_memory<int>());
    }
  };
  EXPECT_THAT(complaint({32, 16}, body), HasSubstr("meet in different operations"));
}

// ---- mma.m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type").

struct Place {
  int row, column;
};
// groupID = laneid >> 2, threadID_in_group = laneid % 4
Place a_place(int lane, int i) {  // i = 0..7
  const int group = lane >> 2;
  const bool upper = (i >= 0 && i < 2) || (i >= 4 && i < 6);
  return {upper ? group : group + 8, lane % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
Place b_place(int lane, int i) {  // i = 0..3
  return {lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane >> 2};
}
Place c_place(int lane, int i) {  // i = 0..3
  return {(lane >> 2) + (i >= 2 ? 8 : 0), lane % 4 * 2 + (i & 1)};
}

struct Operands {
  float a[16][16], b[16][8], c[16][8];
};

// D assembled from the lanes by the table of the ISA.
void multiply(const Operands& in, float (&d)[16][8]) {
  const auto body = [&] {
    const int lane = lane_index();
    unsigned a[4];
    unsigned b[2];
    float sum[4];
    for (int i = 0; i < 8; i += 2) {
      const Place at = a_place(lane, i);
      a[i / 2] = pack_bf16(in.a[at.row][at.column], in.a[at.row][at.column + 1]);
    }
    for (int i = 0; i < 4; i += 2) {
      const Place at = b_place(lane, i);
      b[i / 2] = pack_bf16(in.b[at.row][at.column], in.b[at.row + 1][at.column]);
    }
    for (int i = 0; i < 4; ++i) sum[i] = in.c[c_place(lane, i).row][c_place(lane, i).column];
    mma(sum, a, b);
    for (int i = 0; i < 4; ++i) d[c_place(lane, i).row][c_place(lane, i).column] = sum[i];
  };
  ASSERT_EQ(complaint({32}, body), "");
}

// A one at (row, k) of A and a one at (k, column) of B, for each k: D has its only one there. This
// finds each wrong position of a fragment alone.
TEST(Mma, PlacesEveryNumberWhereTheIsaSaysSo) {
  for (int k = 0; k < 16; ++k) {
    Operands in{};
    const int row = (5 * k + 3) % 16;
    const int column = (3 * k + 1) % 8;
    in.a[row][k] = 1;
    in.b[k][column] = 1;
    float d[16][8];
    multiply(in, d);
    for (int r = 0; r < 16; ++r) {
      for (int c = 0; c < 8; ++c) {
        ASSERT_EQ(d[r][c], r == row && c == column ? 1.0F : 0.0F) << "k " << k;
      }
    }
  }
}

// Integers of at most four bits, so that every partial sum is exact in any order.
TEST(Mma, IsTheProductInFloat64) {
  Random random(7);
  Operands in;
  const auto fill = [&](auto& matrix) {
    for (auto& row : matrix) {
      for (float& value : row) value = static_cast<float>(random.below(15)) - 7.0F;
    }
  };
  fill(in.a);
  fill(in.b);
  fill(in.c);
  float d[16][8];
  multiply(in, d);
  for (int r = 0; r < 16; ++r) {
    for (int c = 0; c < 8; ++c) {
      double sum = in.c[r][c];
      for (int k = 0; k < 16; ++k) sum += double{in.a[r][k]} * double{in.b[k][c]};
      EXPECT_EQ(double{d[r][c]}, sum);
    }
  }
}

TEST(Mma, CountsItsMultiplyAdds) {
  emulator::Memory& memory = emulator::machine().memory;
  memory.clear();
  float d[16][8];
  multiply(Operands{}, d);
  EXPECT_EQ(memory.traffic().matrix_multiply_adds, 16 * 8 * 16);
}

TEST(Arithmetic, CountsMultiplyAddsAndDotProducts) {
  emulator::Memory& memory = emulator::machine().memory;
  memory.clear();
  const auto body = [] {
    EXPECT_EQ(multiply_add(3.0F, 5.0F, 7.0F), 22.0F);
    // bytes, low to high: 1 -2 3 -128 times 5 6 -7 127, plus 1000
    EXPECT_EQ(dot4(static_cast<int>(0x8003fe01U), 0x7ff90605, 1000),
              5 - 12 - 21 - 128 * 127 + 1000);
  };
  ASSERT_EQ(complaint({2}, body), "");
  EXPECT_EQ(memory.traffic().multiply_adds, 2);
  EXPECT_EQ(memory.traffic().dot_multiply_adds, 8);
  EXPECT_EQ(memory.traffic().flops(), 2 * (2 + 8));
}

// One rounding: 1 + 2^-23 squared has a bit at 2^-46 that a product rounded first would lose.
TEST(Arithmetic, MultiplyAddRoundsOnce) {
  const float x = 1.0F + 0x1p-23F;
  EXPECT_EQ(complaint({1}, [&] { EXPECT_EQ(multiply_add(x, x, -1.0F - 0x1p-22F), 0x1p-46F); }), "");
}

}  // namespace
}  // namespace tiersim::kernels::matrix_test
