// Planted mistake           caught by
// no_vote_barrier           outputs under greedy_warp (poison)
// wrong_row_half            outputs
// copies_waited_late        outputs (landing late)
// ring_overwritten          outputs
#include <gtest/gtest.h>

#include "kernels/cases/early_exit_fill.cuh"
#include "kernels/emulator/sanitizer.hpp"
#include "tests/kernels/support/emulated_case.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::kv_fill_test {
namespace {

template <class Fill>
MakeCase fill(const FillPlan& plan) {
  return [plan] { return std::make_unique<FillCase<Fill>>(plan); };
}

constexpr FillPlan kRagged = {.layers = 2, .heads = 1, .depth = 96, .tokens = 5, .capacity = 3};

TEST(ProjectReference, IsTheProductTimesTheFactor) {
  const std::uint16_t weights[] = {0x3f80, 0x4000, 0x4040, 0};  // 1 2; 3 0
  const std::vector<double> out = project_reference(weights, 2, 2, {10, 100}, 0.5);
  EXPECT_DOUBLE_EQ(out[0], 105);
  EXPECT_DOUBLE_EQ(out[1], 15);
}

TEST(KvFill, IsRightForTokensThatFillNoTile) {
  expect_right_and_counted(fill<SkinnyFill<1>>(kRagged));
  expect_right_and_counted(fill<WideFill<64, 8>>(kRagged));
}

TEST(KvFill, IsRightForOneTokenAndOneStep) {
  const FillPlan plan = {.layers = 1, .heads = 1, .depth = 32, .tokens = 1, .capacity = 1};
  expect_right_and_counted(fill<SkinnyFill<1>>(plan));
  expect_right_and_counted(fill<WideFill<64, 8>>(plan));
}

TEST(KvFill, IsRightForSeveralTilesOfTokensAndMoreStepsThanAreInFlight) {
  const FillPlan plan = {.layers = 1, .heads = 1, .depth = 1120, .tokens = 10, .capacity = 2};
  expect_right_and_counted(fill<SkinnyFill<1>>(plan));
}

TEST(KvFill, IsRightForEveryWidth) {
  const FillPlan plan = {.layers = 1, .heads = 2, .depth = 64, .tokens = 35, .capacity = 2};
  expect_right_and_counted(fill<SkinnyFill<2>>(plan));
  expect_right_and_counted(fill<SkinnyFill<4>>(plan));
  expect_right_and_counted(fill<WideFill<64, 32>>(plan));
  expect_right_under(fill<WideFill<128, 128>>(plan),
                     {emulator::Order::greedy_warp, emulator::Landing::late, 3});
}

TEST(KvFill, IsRightWhereATileOfRowsIsNotFull) {
  const FillPlan plan = {.layers = 1, .heads = 1, .depth = 64, .tokens = 3, .capacity = 2};
  expect_right_and_counted(fill<WideFill<128, 8>>(plan));
}

TEST(KvFill, IsCaughtWithAPlantedMistake) {
  EXPECT_TRUE(is_caught(fill<SkinnyFill<1, Mistake::wrong_row_half>>(kRagged)));
}

TEST(KvFill, IsCaughtWithAPlantedRace) {
  TS_SKIP_UNDER_TSAN();
  const FillPlan deep = {.layers = 1, .heads = 1, .depth = 512, .tokens = 5, .capacity = 3};
  EXPECT_TRUE(is_caught(fill<SkinnyFill<1, Mistake::no_vote_barrier>>(kRagged)));
  EXPECT_TRUE(is_caught(fill<WideFill<64, 8, Mistake::no_vote_barrier>>(kRagged)));
  EXPECT_TRUE(is_caught(fill<WideFill<64, 8, Mistake::copies_waited_late>>(deep)));
  EXPECT_TRUE(is_caught(fill<WideFill<64, 8, Mistake::ring_overwritten>>(deep)));
}

}  // namespace
}  // namespace tiersim::kernels::kv_fill_test
