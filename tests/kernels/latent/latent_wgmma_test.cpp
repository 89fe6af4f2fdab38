// Decode attention by wgmma and tensor copies. Planted mistakes and the checks that find them:
//   ring_overwritten                 the emulator (arrivals, deadlock) and wrong sums
//   announces_too_little             the emulator (expect_tx under-counted)
//   no_tail_mask                     wrong sums
//   no_barrier_before_probabilities  wrong sums, ThreadSanitizer
#include "kernels/cases/latent_wgmma.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "kernels/emulator/sanitizer.hpp"
#include "tests/kernels/support/emulated_case.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::latent_wgmma_test {
namespace {

LatentShape tpla(int heads, std::vector<int> lengths) {
  LatentShape shape;
  shape.batch = static_cast<int>(lengths.size());
  shape.context = 384;
  shape.heads = heads;
  shape.latent_dim = 256;
  shape.rope_dim = 64;
  shape.lengths = std::move(lengths);
  return shape;
}

LatentShape mla(int heads, std::vector<int> lengths) {
  LatentShape shape = tpla(heads, std::move(lengths));
  shape.latent_dim = 512;
  return shape;
}

MakeCase make(const LatentShape& shape, int splits) {
  return [=] { return make_latent_wgmma(shape, splits); };
}

MakeCase make_broken(const LatentShape& shape, int splits, Mistake mistake) {
  return [=] { return make_broken_latent_wgmma(shape, splits, mistake); };
}

TEST(LatentWgmma, TplaShardWithRaggedLengthsAndEmptySplits) {
  expect_right_and_counted(make(tpla(128, {330, 1}), 2));
}

TEST(LatentWgmma, GlaShardTakesTilesByTurns) {
  expect_right_and_counted(make(tpla(64, {384, 65}), 2));
}

TEST(LatentWgmma, MlaSharesProbabilitiesOfOddAndEvenTiles) {
  expect_right_and_counted(make(mla(64, {384, 330}), 1));
}

// The warpgroups own tiles in turn: ranges of one to six tiles end with either, after whole rounds
// of the stages or not.
TEST(LatentWgmma, MlaTakesAnyNumberOfTiles) {
  expect_right_and_counted(make(mla(64, {1, 128, 150, 256, 300}), 1));
  expect_right_under(make(mla(64, {384, 300, 64}), 2), {});
}

// The largest score of a row moves from tile to tile, so that sums are rescaled for either's tiles.
TEST(LatentWgmma, MlaPassesRisingMaximaOn) {
  for (const float amplitude : {4.0F, 40.0F}) {
    LatentShape shape = mla(64, {384, 311});
    shape.amplitude = amplitude;
    expect_right_under(make(shape, 1), {});
  }
}

TEST(LatentWgmma, MlaOf128HeadsTakesTwoBlocks) {
  expect_right_under(make(mla(128, {129}), 2), {});
}

TEST(LatentWgmma, FewerThan64HeadsArePadded) {
  const LatentShape shape = tpla(32, {100});
  expect_right_under(make(shape, 1), {});
  const Work work = make_latent_wgmma(shape, 1)->work();
  EXPECT_EQ(work.flops, 100 * 32 * 2 * 576 + 2 * 2 * 32 * 256);  // two parts are joined
  EXPECT_EQ(work.issued_flops, 128 * 64 * 2 * 576 + 2 * 2 * 32 * 256);
}

TEST(LatentWgmma, EmptySequencesGiveZeros) {
  expect_right_under(make(tpla(128, {0, 70}), 2), {});
  expect_right_under(make(mla(64, {0}), 1), {});
}

TEST(LatentWgmma, PagesMayBeScattered) {
  LatentShape shape = tpla(128, {200, 130});
  shape.context = 200;
  shape.paged = true;
  expect_right_under(make(shape, 2), {});
  shape.latent_dim = 512;
  expect_right_under(make(shape, 1), {});
}

TEST(LatentWgmma, LargeAndEqualScores) {
  for (const float amplitude : {1e-6F, 40.0F}) {
    LatentShape shape = tpla(128, {190});
    shape.amplitude = amplitude;
    expect_right_under(make(shape, 1), {});
    shape.latent_dim = 512;
    shape.heads = 64;
    expect_right_under(make(shape, 1), {});
  }
}

TEST(LatentWgmma, ShapesItHasNotAreRefused) {
  LatentShape shape = tpla(128, {10});
  shape.latent_dim = 128;
  EXPECT_THROW(make_latent_wgmma(shape), std::invalid_argument);
  shape = tpla(24, {10});
  EXPECT_THROW(make_latent_wgmma(shape), std::invalid_argument);
  shape = tpla(64, {10});
  shape.context = 100;
  EXPECT_THROW(make_latent_wgmma(shape), std::invalid_argument);
}

TEST(LatentWgmma, PlantedMistakesAreCaught) {
  EXPECT_TRUE(is_caught(make_broken(tpla(128, {384}), 1, Mistake::ring_overwritten)));
  EXPECT_TRUE(is_caught(make_broken(mla(64, {384}), 1, Mistake::ring_overwritten)));
  EXPECT_TRUE(is_caught(make_broken(tpla(64, {192}), 1, Mistake::announces_too_little)));
  EXPECT_TRUE(is_caught(make_broken(mla(64, {192}), 1, Mistake::announces_too_little)));
  EXPECT_TRUE(is_caught(make_broken(tpla(64, {130}), 1, Mistake::no_tail_mask)));
  EXPECT_TRUE(is_caught(make_broken(mla(64, {130}), 1, Mistake::no_tail_mask)));
  EXPECT_TRUE(is_caught(make_broken(mla(64, {190}), 1, Mistake::no_tail_mask)));
  EXPECT_FALSE(is_caught(make(tpla(64, {130}), 1)));
}

TEST(LatentWgmma, MissingBarrierBeforeTheProbabilitiesIsCaught) {
  TS_SKIP_UNDER_TSAN();
  EXPECT_TRUE(is_caught(make_broken(mla(64, {192}), 1, Mistake::no_barrier_before_probabilities)));
}

}  // namespace
}  // namespace tiersim::kernels::latent_wgmma_test
