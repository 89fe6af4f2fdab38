// Planted mistake           caught by
// copies_waited_late        outputs (landing late)
// ring_overwritten          outputs
// no_ring_barrier           outputs under greedy_warp
// no_vote_barrier           outputs under greedy_warp (poison read)
// no_tail_mask              outputs
// highest_index_wins        the index
// shared memory too small   bounds of cp.async
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cases/early_exit_head.cuh"
#include "kernels/emulator/sanitizer.hpp"
#include "tests/kernels/support/emulated_case.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::lm_head_test {
namespace {

template <int Rows, int Tokens, Mistake Planted = Mistake::none>
MakeCase head(const HeadPlan& plan) {
  return [plan] { return std::make_unique<HeadCase<Rows, Tokens, Planted>>(plan); };
}

TEST(LmHeadReference, KnowsTheOddsOfTwoLogits) {
  // Logits 0 and ln 3 (as far as bf16 goes, 1.1015625): probabilities 1/4 and 3/4 roughly.
  const std::uint16_t one = 0x3f80;
  const std::uint16_t embedding[] = {0, 0x3f8d};
  const HeadReference result = head_reference(embedding, 2, 1, &one);
  EXPECT_EQ(result.best, 1);
  EXPECT_NEAR(result.probability, 1 / (1 + std::exp(-1.1015625)), 1e-12);
  EXPECT_NEAR(result.difference, std::tanh(1.1015625 / 2), 1e-12);
  EXPECT_NEAR(result.log_sum, std::log(1 + std::exp(1.1015625)), 1e-12);
}

TEST(LmHead, IsRightForAVocabularyThatFillsNoTile) {
  expect_right_and_counted(head<128, 8>({.vocabulary = 150, .tokens = 5, .depth = 72}));
  expect_right_and_counted(head<64, 16>({.vocabulary = 130, .tokens = 13, .depth = 136}));
}

TEST(LmHead, IsRightForOneTokenAndOneWord) {
  expect_right_and_counted(head<64, 8>({.vocabulary = 1, .tokens = 1, .depth = 8}));
}

TEST(LmHead, IsRightWhereTheRingTurnsSeveralTimes) {
  expect_right_and_counted(head<64, 8>({.vocabulary = 64, .tokens = 8, .depth = 1288}));
}

TEST(LmHead, IsRightForSeveralTilesOfTokens) {
  expect_right_and_counted(head<64, 32>({.vocabulary = 70, .tokens = 40, .depth = 64}));
}

TEST(LmHead, IsRightWithTwoWarpsOfTokens) {
  expect_right_under(head<128, 128>({.vocabulary = 140, .tokens = 130, .depth = 64}),
                     {emulator::Order::greedy_warp, emulator::Landing::late, 3});
  expect_right_under(head<128, 64>({.vocabulary = 128, .tokens = 64, .depth = 64}),
                     {emulator::Order::shuffled, emulator::Landing::mixed, 2});
  expect_right_under(head<64, 128>({.vocabulary = 70, .tokens = 130, .depth = 64}),
                     {emulator::Order::shuffled, emulator::Landing::mixed, 2});
}

TEST(LmHead, IsRightWithTilesOf256Rows) {
  expect_right_and_counted(head<256, 64>({.vocabulary = 300, .tokens = 50, .depth = 72}));
  expect_right_under(head<256, 128>({.vocabulary = 300, .tokens = 130, .depth = 456}),
                     {emulator::Order::greedy_warp, emulator::Landing::late, 3});
}

TEST(LmHead, TakesTheLowestOfEqualWordsOfAThread) {
  expect_right_under(
      head<256, 64>({.vocabulary = 270, .tokens = 3, .depth = 16, .equal_rows = true}),
      {emulator::Order::shuffled, emulator::Landing::mixed, 2});
}

TEST(LmHead, TakesTheLowestOfEqualWords) {
  expect_right_and_counted(
      head<64, 8>({.vocabulary = 150, .tokens = 3, .depth = 16, .equal_rows = true}));
}

TEST(LmHead, StaysFiniteForLargeLogits) {
  // Logits in the hundreds: exp of them would overflow fp32.
  expect_right_and_counted(
      head<64, 8>({.vocabulary = 150, .tokens = 8, .depth = 64, .deviation = 16}));
}

TEST(LmHead, KeepsRowsThatLeftEarlier) {
  expect_right_and_counted(
      head<64, 8>({.vocabulary = 70, .tokens = 6, .depth = 64, .first_layer = false}));
}

TEST(LmHead, IsCaughtWithAPlantedMistake) {
  const HeadPlan plan = {.vocabulary = 150, .tokens = 5, .depth = 520};
  EXPECT_TRUE(is_caught(head<64, 8, Mistake::no_tail_mask>(plan)));
  EXPECT_TRUE(is_caught(head<64, 8, Mistake::highest_index_wins>(
      {.vocabulary = 150, .tokens = 5, .depth = 16, .equal_rows = true})));
}

TEST(LmHead, IsCaughtWithAPlantedRace) {
  TS_SKIP_UNDER_TSAN();
  const HeadPlan plan = {.vocabulary = 150, .tokens = 5, .depth = 520};
  EXPECT_TRUE(is_caught(head<64, 8, Mistake::copies_waited_late>(plan)));
  EXPECT_TRUE(is_caught(head<64, 8, Mistake::ring_overwritten>(plan)));
  EXPECT_TRUE(is_caught(head<64, 8, Mistake::no_ring_barrier>(plan)));
  EXPECT_TRUE(is_caught(head<64, 8, Mistake::no_vote_barrier>(plan)));
}

TEST(LmHead, IsCaughtWithTooLittleSharedMemory) {
  const HeadPlan plan = {.vocabulary = 64,
                         .tokens = 8,
                         .depth = 512,
                         .shared_bytes = LmHeadLayout<TokenTile<64, 8>>::kSharedBytes - 16};
  EXPECT_TRUE(is_caught(head<64, 8>(plan)));
}

}  // namespace
}  // namespace tiersim::kernels::lm_head_test
