// Planted mistake           caught by
// no_vote_barrier           the vote, under greedy_warp (poison counts as a vote to leave)
// no_tail_mask              the vote: rows that do not exist hold the batch back
// flags_forgotten           the flags
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/cases/early_exit_vote.cuh"
#include "kernels/emulator/sanitizer.hpp"
#include "kernels/runtime/conditional.cuh"
#include "tests/kernels/support/emulated_case.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::residual_vote_test {
namespace {

template <Confidence Measure, int Units, Mistake Planted = Mistake::none>
MakeCase vote_case(const VotePlan& plan) {
  return [plan] { return std::make_unique<VoteCase<Measure, Units, Planted>>(plan); };
}

TEST(ResidualVoteReference, KnowsARightTriangle) {
  // state (3, 0), delta (0, 4): fresh (3, 4), cosine 3/5 with the state, mean square 12.5.
  const std::uint16_t state[] = {0x4040, 0};
  const std::uint16_t delta[] = {0, 0x4080};
  const ResidualReference result = residual_reference(state, delta, state, 2, 0, -9);
  EXPECT_DOUBLE_EQ(result.fresh[1], 4);
  EXPECT_DOUBLE_EQ(result.cosine, 0.6);
  EXPECT_DOUBLE_EQ(result.factor, 1 / std::sqrt(12.5));
  EXPECT_DOUBLE_EQ(result.classifier, 0.5);  // 3 x 3 - 9 = 0
}

TEST(ResidualVote, IsRightForRowsThatFillNoBlockAndNoWarp) {
  expect_right_and_counted(vote_case<Confidence::cosine, 1>({.rows = 5, .depth = 72}));
  expect_right_and_counted(vote_case<Confidence::classifier, 2>({.rows = 3, .depth = 264}));
}

TEST(ResidualVote, IsRightForOneRowOfEightNumbers) {
  expect_right_and_counted(vote_case<Confidence::cosine, 1>({.rows = 1, .depth = 8}));
}

TEST(ResidualVote, LetsTheBatchGoWhenAllRowsAreSure) {
  // A step of a tenth leaves the cosine above 0.99.
  expect_right_and_counted(
      vote_case<Confidence::cosine, 3>({.rows = 9, .depth = 768, .threshold = 0.9F, .step = 0.1F}));
}

// A mean square of 1e-8 against an epsilon of 1e-6: without it the factor is ten times as large.
TEST(ResidualVote, AddsEpsilonToSmallRows) {
  expect_right_and_counted(
      vote_case<Confidence::cosine, 1>({.rows = 5, .depth = 72, .size = 1e-4F}));
  expect_right_and_counted(
      vote_case<Confidence::classifier, 1>({.rows = 5, .depth = 72, .size = 1e-4F}));
}

// No weights and no bias: a confidence of 1/2 to the last bit.
TEST(ResidualVote, LetsRowsGoWhoseConfidenceIsTheThreshold) {
  expect_right_and_counted(vote_case<Confidence::classifier, 1>(
      {.rows = 5, .depth = 64, .threshold = 0.5F, .weight = 0, .bias = 0}));
}

TEST(ResidualVote, KeepsRowsThatLeftEarlier) {
  expect_right_and_counted(vote_case<Confidence::cosine, 1>(
      {.rows = 6, .depth = 64, .threshold = 1.5F, .first_layer = false}));
}

TEST(ResidualVote, IsCaughtWithAPlantedMistake) {
  const VotePlan sure = {.rows = 5, .depth = 64, .threshold = 0.1F, .step = 0.1F};
  const VotePlan later = {.rows = 6, .depth = 64, .threshold = 1.5F, .first_layer = false};
  EXPECT_TRUE(is_caught(vote_case<Confidence::cosine, 1, Mistake::no_tail_mask>(sure)));
  EXPECT_TRUE(is_caught(vote_case<Confidence::cosine, 1, Mistake::flags_forgotten>(later)));
}

TEST(ResidualVote, IsCaughtWithAPlantedRace) {
  TS_SKIP_UNDER_TSAN();
  const VotePlan unsure = {.rows = 4, .depth = 64, .threshold = 1.5F, .first_layer = false};
  EXPECT_TRUE(is_caught(vote_case<Confidence::cosine, 1, Mistake::no_vote_barrier>(unsure)));
}

// A stack of layers in one graph: layer i runs if the batch has not exited before it.
TEST(ConditionalGraph, StopsAtTheLayerWhereTheBatchLeaves) {
  DeviceArray<int> status(std::vector<int>{1}, "status");
  DeviceArray<int> all_exited(std::size_t{1}, "all_exited");
  std::vector<int> ran;
  ConditionalGraph graph;
  std::vector<Condition> conditions;
  for (unsigned layer = 0; layer < 5; ++layer) {
    conditions.push_back(graph.condition(layer == 0 ? 1 : 0));
  }
  for (int layer = 0; layer < 4; ++layer) {
    graph.when(conditions[static_cast<std::size_t>(layer)], [&, layer](Stream& stream) {
      ran.push_back(layer);
      status.upload({layer == 2 ? 1 : 0});  // the state after a vote
      launch(stream, &exit_gate<true>, {dim3(1), dim3(1)}, status.data(), all_exited.data(),
             conditions[static_cast<std::size_t>(layer) + 1]);
    });
  }
  Stream stream;
  for (int replay = 0; replay < 2; ++replay) {
    ran.clear();
    graph.replay(stream);
    EXPECT_EQ(ran, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(all_exited.download().front(), 1);
  }
}

TEST(ConditionalGraph, SelectsABodyByNumber) {
  ConditionalGraph graph;
  std::vector<int> ran;
  Condition chosen = graph.condition(7);
  const auto body = [&ran](int number) {
    return [&ran, number](Stream&) { ran.push_back(number); };
  };
  graph.select(chosen, {body(0), body(1)});
  graph.record([chosen](Stream&) { set_condition(chosen, 1); });
  graph.select(chosen, {body(0), body(1)});
  Stream stream;
  graph.replay(stream);
  EXPECT_EQ(ran, (std::vector<int>{1}));  // 7: none of the two
}

}  // namespace
}  // namespace tiersim::kernels::residual_vote_test
