// Planted mistake           caught by
// copies_waited_late        late landing: poison, or older rows
// ring_overwritten          early landing: later rows in place of these
// no_barrier_before_tile    greedy_warp: a tile is read before all warps have raised it
// no_tail_mask              any schedule, at a count that ends within a tile
// wrong_scale_group         any schedule
#include "kernels/cases/sparse_latent_case.cuh"

#include <gtest/gtest.h>

#include "tests/kernels/support/emulated_case.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::sparse_latent_test {
namespace {

using Small = SparseLatentCase<SparseLatent32>;

template <class Subject>
MakeCase subject(const SparseAttentionShape& shape) {
  return [=] { return std::make_unique<Subject>(shape); };
}

SparseAttentionShape shape_of(std::vector<int> lengths, int k, int splits = 1) {
  return {.batch = static_cast<int>(lengths.size()),
          .heads = 64,
          .slots = k + 20,
          .k = k,
          .splits = splits,
          .lengths = lengths};
}

TEST(SparseLatent, RaisesNumbersAndRoundsThemOnce) {
  const float scale = 0.3F;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if ((byte & 0x7fU) == 0x7fU) continue;
    const auto number = static_cast<float>(reference::from_e4m3(static_cast<std::uint8_t>(byte)));
    const uint2 raised =
        raise_word(0x3cU | byte << 8U | byte << 16U | 0xbcU << 24U, scale * kE4m3Factor);
    const float expected = to_float(to_bf16(number * scale));
    EXPECT_EQ(low_float(raised.x), to_float(to_bf16(1.5F * scale)));
    EXPECT_EQ(high_float(raised.x), expected) << byte;
    EXPECT_EQ(low_float(raised.y), expected) << byte;
    EXPECT_EQ(high_float(raised.y), to_float(to_bf16(-1.5F * scale)));
  }
}

TEST(SparseLatent, AttendsToTheListedRows) {
  expect_right_and_counted(subject<Small>(shape_of({500, 40, 1, 0}, 70)));
}

TEST(SparseLatent, JoinsSplitsSomeOfThemEmpty) {
  expect_right_and_counted(subject<Small>(shape_of({500, 33, 0}, 70, 3)));
}

TEST(SparseLatent, FindsRowsOfAPool) {
  SparseAttentionShape shape = shape_of({500, 33}, 40);
  shape.pooled = true;
  expect_right_and_counted(subject<Small>(shape));
}

TEST(SparseLatent, StandsLargeAndEqualLogits) {
  SparseAttentionShape shape = shape_of({70}, 70);
  shape.amplitude = 200;
  expect_right_and_counted(subject<Small>(shape));
  shape.amplitude = 0;
  shape.splits = 2;
  expect_right_and_counted(subject<Small>(shape));
}

TEST(SparseLatent, GivesEachBlockItsHeads) {
  SparseAttentionShape shape = shape_of({40}, 40);
  shape.heads = 128;
  expect_right_and_counted(subject<Small>(shape));
}

TEST(SparseLatent, IsRightWithTilesOf64Rows) {
  expect_right_and_counted(subject<SparseLatentCase<SparseLatent64>>(shape_of({500, 65}, 150, 2)));
}

TEST(SparseLatent, PlantedMistakesAreCaught) {
  SparseAttentionShape shape = shape_of({100}, 100);
  EXPECT_FALSE(is_caught(subject<Small>(shape)));
  EXPECT_TRUE(is_caught(subject<SparseLatentCase<SparseLatent32, Mistake::no_tail_mask>>(shape)));
  EXPECT_TRUE(
      is_caught(subject<SparseLatentCase<SparseLatent32, Mistake::wrong_scale_group>>(shape)));
}

TEST(SparseLatent, PlantedRacesAreCaught) {
  TS_SKIP_UNDER_TSAN();
  const SparseAttentionShape shape = shape_of({150}, 150);
  EXPECT_TRUE(
      is_caught(subject<SparseLatentCase<SparseLatent32, Mistake::copies_waited_late>>(shape)));
  EXPECT_TRUE(
      is_caught(subject<SparseLatentCase<SparseLatent32, Mistake::ring_overwritten>>(shape)));
  EXPECT_TRUE(
      is_caught(subject<SparseLatentCase<SparseLatent32, Mistake::no_barrier_before_tile>>(shape)));
}

}  // namespace
}  // namespace tiersim::kernels::sparse_latent_test
