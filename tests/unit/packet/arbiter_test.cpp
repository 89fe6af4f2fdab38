#include "hwmodels/packet/arbiter.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace tiersim::arbiter_test {
namespace {

TEST(RoundRobin, TakesTheReadyInputsInTurn) {
  RoundRobin arbiter(3);
  std::vector<std::size_t> order;
  for (int i = 0; i < 4; ++i) order.push_back(*arbiter.pick([](std::size_t) { return true; }));
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 0}));
  EXPECT_EQ(arbiter.pick([](std::size_t i) { return i != 1; }), 2U);
  EXPECT_EQ(arbiter.pick([](std::size_t) { return false; }), std::nullopt);
}

std::vector<std::int64_t> bytes_of(WeightedRoundRobin& arbiter,
                                   const std::vector<std::int64_t>& sizes, int picks) {
  std::vector<std::int64_t> bytes(sizes.size());
  for (int i = 0; i < picks; ++i) {
    const auto input = arbiter.pick([&](std::size_t j) { return sizes[j]; });
    bytes[*input] += sizes[*input];
  }
  return bytes;
}

TEST(WeightedRoundRobin, SharesBytesByWeightWhateverTheSizes) {
  WeightedRoundRobin arbiter({1, 3}, 256);
  const auto bytes = bytes_of(arbiter, {256, 64}, 13'000);  // a round: 1 x 256 and 12 x 64
  EXPECT_EQ(bytes[0] * 3, bytes[1]);
}

TEST(WeightedRoundRobin, SharesEvenlyWherePacketsDoNotDivideTheQuantum) {
  WeightedRoundRobin arbiter({1, 1}, 300);
  const auto bytes = bytes_of(arbiter, {280, 90}, 10'000);
  // The two differ by no more than a quantum and a packet, for any length of the run.
  EXPECT_NEAR(static_cast<double>(bytes[0]), static_cast<double>(bytes[1]), 300 + 280);
}

// A link with one credit: after each packet nobody may send until the credit is back.
TEST(WeightedRoundRobin, SharesByWeightWhereCreditsRunOutAfterEachPacket) {
  WeightedRoundRobin arbiter({1, 2, 4}, 80);
  std::vector<int> sent(3);
  for (int i = 0; i < 7000; ++i) {
    ++sent[*arbiter.pick([](std::size_t) { return 80; })];
    EXPECT_EQ(arbiter.pick([](std::size_t) { return WeightedRoundRobin::kBlocked; }), std::nullopt);
  }
  EXPECT_EQ(sent, (std::vector<int>{1000, 2000, 4000}));
}

TEST(WeightedRoundRobin, APacketBeyondTheQuantumWaitsItsRounds) {
  WeightedRoundRobin arbiter({1, 1}, 100);
  const auto bytes = bytes_of(arbiter, {1000, 100}, 1100);
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST(WeightedRoundRobin, ABlockedInputKeepsItsDeficitAndAnEmptyOneLosesIt) {
  const auto next_of_first = [](std::int64_t meanwhile) {
    WeightedRoundRobin arbiter({1, 1}, 100);
    // The first may send 100, has 150, and waits with a deficit of 100.
    EXPECT_EQ(arbiter.pick([](std::size_t i) { return i == 0 ? 150 : 100; }), 1U);
    EXPECT_EQ(arbiter.pick([&](std::size_t i) { return i == 0 ? meanwhile : 100; }), 1U);
    return *arbiter.pick([](std::size_t i) { return i == 0 ? 200 : 100; });
  };
  EXPECT_EQ(next_of_first(WeightedRoundRobin::kBlocked), 0U);
  EXPECT_EQ(next_of_first(0), 1U);
}

TEST(WeightedRoundRobin, NothingReadyIsNothingPicked) {
  WeightedRoundRobin arbiter({1, 2}, 64);
  EXPECT_EQ(arbiter.pick([](std::size_t) { return 0; }), std::nullopt);
  EXPECT_EQ(arbiter.pick([](std::size_t) { return WeightedRoundRobin::kBlocked; }), std::nullopt);
}

}  // namespace
}  // namespace tiersim::arbiter_test
