// Planted mistakes and the checks that find them:
//   no_tail_mask                     zeros past the end take part: the result
//   copies_waited_late               with copies that land late: unwritten bytes are NaN
//   no_barrier_before_tile           a warp that runs ahead (greedy_warp) reads too early
//   no_barrier_before_probabilities  the same for the probabilities of the other warps
//   ring_overwritten                 with copies that land early: a later tile in place of this
//   short shared memory              an access past its end
#include <gtest/gtest.h>

#include <memory>

#include "kernels/cases/latent.hpp"
#include "kernels/cases/latent_decode_case.cuh"
#include "kernels/emulator/sanitizer.hpp"
#include "tests/kernels/support/emulated_case.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::latent_decode_test {
namespace {

template <class Layout>
LatentShape shape_of(const std::vector<int>& lengths, int context, float amplitude = 1) {
  return {.batch = static_cast<int>(lengths.size()),
          .context = context,
          .heads = Layout::kRows,
          .latent_dim = Layout::kLatent,
          .rope_dim = Layout::kDepth - Layout::kLatent,
          .lengths = lengths,
          .paged = false,
          .amplitude = amplitude};
}

template <class Layout, Mistake Planted = Mistake::none>
MakeCase decode(const LatentShape& shape, int splits, int missing_shared_bytes = 0) {
  return [=] {
    return std::make_unique<LatentDecodeCase<Layout, Planted>>(shape, splits, missing_shared_bytes);
  };
}

using Small = LatentLayout256x64;

TEST(LatentDecode, IsRightForRaggedLengths) {
  expect_right_and_counted(decode<Small>(shape_of<Small>({100, 1}, 100), 1));
}

TEST(LatentDecode, IsRightWithSplitsOfWhichSomeAreEmpty) {
  expect_right_and_counted(decode<Small>(shape_of<Small>({70, 1, 0}, 70), 3));
}

TEST(LatentDecode, GivesZerosForAnEmptySequence) {
  expect_right_and_counted(decode<Small>(shape_of<Small>({0, 7}, 8), 1));
}

TEST(LatentDecode, SurvivesLargeLogits) {
  expect_right_and_counted(decode<Small>(shape_of<Small>({70}, 70, 200), 1));
}

TEST(LatentDecode, AveragesWhereAllLogitsAreEqual) {
  expect_right_and_counted(decode<Small>(shape_of<Small>({70}, 70, 0), 2));
}

TEST(LatentDecode, FollowsThePageTable) {
  LatentShape shape = shape_of<Small>({100, 3}, 150);
  shape.paged = true;
  expect_right_and_counted(decode<Small>(shape, 2));
}

TEST(LatentDecode, GivesEachBlockItsHeads) {
  LatentShape shape = shape_of<Small>({40}, 40);
  shape.heads *= 2;
  expect_right_and_counted(decode<Small>(shape, 1));
}

template <class Layout>
void expect_right_once(int splits) {
  expect_right_under(decode<Layout>(shape_of<Layout>({150, 20}, 150), splits),
                     {emulator::Order::greedy_warp, emulator::Landing::late, 3});
}

TEST(LatentDecode, IsRightInEveryLayout) {
  expect_right_once<LatentLayout512x64>(1);
  expect_right_once<LatentLayout512x32>(2);
  expect_right_once<LatentLayout512x16>(1);
  expect_right_once<LatentLayout256x128>(1);
}

TEST(LatentDecode, PlantedMistakesAreCaught) {
  const LatentShape shape = shape_of<Small>({100}, 100);
  EXPECT_FALSE(is_caught(decode<Small>(shape, 1)));
  EXPECT_TRUE((is_caught(decode<Small, Mistake::no_tail_mask>(shape, 1))));
  // The third stage and all behind it: the first access past the end is by a copy, not a plain one.
  constexpr int kMissing = Small::kSharedBytes - Small::kRing - 2 * Small::kStageBytes;
  EXPECT_TRUE(is_caught(decode<Small>(shape, 1, kMissing)));
}

TEST(LatentDecode, PlantedRacesAreCaught) {
  TS_SKIP_UNDER_TSAN();
  const LatentShape shape = shape_of<Small>({150}, 150);
  EXPECT_TRUE((is_caught(decode<Small, Mistake::copies_waited_late>(shape, 1))));
  EXPECT_TRUE((is_caught(decode<Small, Mistake::no_barrier_before_tile>(shape, 1))));
  EXPECT_TRUE((is_caught(decode<Small, Mistake::no_barrier_before_probabilities>(shape, 1))));
  EXPECT_TRUE((is_caught(decode<Small, Mistake::ring_overwritten>(shape, 1))));
}

TEST(LatentCases, OfToySizeAreRightAndCounted) {
  CaseList cases;
  add_latent_cases(cases, Sizes::toy);
  for (const CaseEntry& entry : cases) {
    SCOPED_TRACE(entry.name);
    expect_right_under(entry.make, {});
  }
}

}  // namespace
}  // namespace tiersim::kernels::latent_decode_test
