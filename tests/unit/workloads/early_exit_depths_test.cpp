#include "workloads/early_exit/exit_depths.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace tiersim::early_exit_depths_test {
namespace {

EarlyExitConfig drawn(double rate, double spread = 1, double correlation = 0, double decay = 0) {
  return {.technique = ExitTechnique::state,
          .depths = ExitDepthConfig{
              .exit_rate = rate, .spread = spread, .correlation = correlation, .decay = decay}};
}

// Table values of the standard normal (Abramowitz and Stegun, table 26.1, 15 digits).
TEST(NormalAtMost, IsTheTable) {
  EXPECT_EQ(normal_at_most(0), 0.5);
  EXPECT_NEAR(normal_at_most(1), 0.841344746068543, 1e-15);
  EXPECT_NEAR(normal_at_most(-1), 0.158655253931457, 1e-15);
  EXPECT_NEAR(normal_at_most(2), 0.977249868051821, 1e-15);
  EXPECT_NEAR(normal_at_most(-3), 0.001349898031630, 1e-15);
  EXPECT_NEAR(normal_at_most(-6), 9.8659e-10, 1e-14);
  EXPECT_EQ(normal_at_most(-40), 0);
  EXPECT_EQ(normal_at_most(40), 1);
}

// 3 layers, mean 2, spread 1: mu is 2 by symmetry, so that Phi(-1/2) = .30854 leave at each end.
TEST(ExitDepths, AreARoundedAndClippedNormal) {
  const ExitDepths depths(drawn(1.0 / 3), 3, 1);
  EXPECT_NEAR(depths.at_most(1), 0.308537538725987, 1e-12);
  EXPECT_NEAR(depths.at_most(2), 1 - 0.308537538725987, 1e-12);
  EXPECT_EQ(depths.at_most(0), 0);
  EXPECT_EQ(depths.at_most(3), 1);
  EXPECT_NEAR(depths.deviation(), std::sqrt(2 * 0.308537538725987), 1e-12);
}

TEST(ExitDepths, HaveTheMeanThatIsStatedAfterClipping) {
  for (const std::int64_t layers : {2, 8, 12, 32, 80})
    for (const double share : {0.0, 0.1, 0.5, 0.565, 0.9, 1.0})
      for (const double spread : {0.01, 0.5, 1.0, 3.0, 20.0}) {
        const auto n = static_cast<double>(layers);
        const double rate = share * (n - 1) / n;
        const ExitDepths depths(drawn(rate, spread), layers, 1);
        ASSERT_NEAR(depths.mean_depth(), n * (1 - rate), 1e-11 * n) << layers << ' ' << spread;
      }
}

// Wide of the ends, rounding to whole layers adds the variance of a uniform, 1/12 (Sheppard).
TEST(ExitDepths, HaveTheSpreadThatIsStatedFarFromTheEnds) {
  EXPECT_NEAR(ExitDepths(drawn(0.5, 3), 80, 1).deviation(), std::sqrt(9 + 1.0 / 12), 1e-9);
}

TEST(ExitDepths, AllLeaveAtTheEndThatTheRateSays) {
  const ExitDepths last(drawn(0), 12, 1);
  const ExitDepths first(drawn(11.0 / 12), 12, 1);
  for (std::int64_t token = 0; token < 1000; ++token) {
    ASSERT_EQ(last.depth(3, token, 1000, token), 12);
    ASSERT_EQ(first.depth(3, token, 1000, token), 1);
  }
}

TEST(ExitDepths, DrawnOnesFollowTheDistribution) {
  constexpr std::int64_t kDraws = 200'000;
  const ExitDepths depths(drawn(0.565, 2), 12, 7);
  std::vector<std::int64_t> at(13);
  for (std::int64_t i = 0; i < kDraws; ++i)
    ++at[static_cast<std::size_t>(depths.depth(i % 100, i / 100, 100'000, i))];
  std::int64_t left = 0;
  for (std::int64_t l = 1; l < 12; ++l) {
    left += at[static_cast<std::size_t>(l)];
    const double p = depths.at_most(l);
    ASSERT_NEAR(static_cast<double>(left) / kDraws, p, 4 * std::sqrt(p * (1 - p) / kDraws)) << l;
  }
}

// Independent tokens: the largest of B is at most l where all are, F(l)^B.
TEST(ExitDepths, OfIndependentTokensMakeABatchDeep) {
  constexpr std::int64_t kIterations = 20'000;
  const ExitDepths depths(drawn(0.565), 8, 3);
  for (const std::int64_t batch : {2, 8, 32}) {
    std::vector<std::int64_t> deepest(9);
    for (std::int64_t i = 0; i < kIterations; ++i) {
      std::int64_t most = 0;
      for (std::int64_t b = 0; b < batch; ++b)
        most = std::max(most, depths.depth(b, i, kIterations, i));
      ++deepest[static_cast<std::size_t>(most)];
    }
    std::partial_sum(deepest.begin(), deepest.end(), deepest.begin());
    for (std::int64_t l = 3; l < 8; ++l) {
      const double p = std::pow(depths.at_most(l), static_cast<double>(batch));
      ASSERT_NEAR(static_cast<double>(deepest[static_cast<std::size_t>(l)]) / kIterations, p,
                  4 * std::sqrt(p * (1 - p) / kIterations) + 1e-9)
          << batch << ' ' << l;
    }
  }
}

TEST(ExitDepths, OfFullyCorrelatedTokensAreEqualInAnIteration) {
  const ExitDepths depths(drawn(0.5, 2, 1), 12, 5);
  bool moved = false;
  for (std::int64_t iteration = 0; iteration < 200; ++iteration) {
    const std::int64_t first = depths.depth(0, 0, 10, iteration);
    for (std::int64_t request = 1; request < 40; ++request)
      ASSERT_EQ(depths.depth(request, request % 10, 10, iteration), first);
    moved |= first != depths.depth(0, 0, 10, iteration + 1);
  }
  EXPECT_TRUE(moved);
}

// P(both at most l) of two tokens: given the shared normal s they are independent, so the mean of
// Phi((t - sqrt(rho) s) / sqrt(1 - rho))^2 over s, here by a sum with steps of 1/1000.
TEST(ExitDepths, OfTwoTokensHaveTheCorrelationThatIsStated) {
  constexpr double kRho = 0.5;
  constexpr std::int64_t kPairs = 100'000;
  const ExitDepths depths(drawn(1.0 / 3, 1, kRho), 3, 11);  // leaves at 1 where z < -1/2
  double p = 0;
  for (int i = -8000; i <= 8000; ++i) {
    const double s = i / 1000.0;
    const double alone = normal_at_most((-0.5 - std::sqrt(kRho) * s) / std::sqrt(1 - kRho));
    p += alone * alone * std::exp(-s * s / 2) / std::sqrt(2 * std::acos(-1.0)) / 1000;
  }
  std::int64_t both = 0;
  for (std::int64_t i = 0; i < kPairs; ++i)
    both += depths.depth(0, i, kPairs, i) == 1 && depths.depth(1, i, kPairs, i) == 1 ? 1 : 0;
  EXPECT_GT(p, 1.5 * depths.at_most(1) * depths.at_most(1));  // far from independent
  EXPECT_NEAR(static_cast<double>(both) / kPairs, p, 4 * std::sqrt(p * (1 - p) / kPairs));
}

TEST(ExitDepths, DoNotDependOnTheOrderOfAsking) {
  const ExitDepths forward(drawn(0.5, 2, 0.5), 12, 5);
  const ExitDepths backward(drawn(0.5, 2, 0.5), 12, 5);
  std::vector<std::int64_t> a;
  std::vector<std::int64_t> b;
  for (std::int64_t i = 0; i < 500; ++i) a.push_back(forward.depth(i, i % 7, 7, i / 3));
  for (std::int64_t i = 500; i-- > 0;) b.push_back(backward.depth(i, i % 7, 7, i / 3));
  std::ranges::reverse(b);
  EXPECT_EQ(a, b);
  const ExitDepths other(drawn(0.5, 2, 0.5), 12, 6);
  std::vector<std::int64_t> c;
  for (std::int64_t i = 0; i < 500; ++i) c.push_back(other.depth(i, i % 7, 7, i / 3));
  EXPECT_NE(a, c);
}

// Full decay: the first of 64 steps has 1 - e^(-4/128), the last 1 - e^(-4 * 127/128), of
// rate / (1 - mean of e^(-4x)).
TEST(ExitDepths, DecayKeepsTheMeanAndLetsLaterTokensLeaveSooner) {
  const ExitDepths depths(drawn(0.5, 1, 0, 1), 12, 9);
  EXPECT_NEAR(depths.mean_depth(), 6, 1e-10);
  constexpr std::int64_t kAnswers = 20'000;
  const auto mean_at = [&](std::int64_t token) {
    double sum = 0;
    for (std::int64_t r = 0; r < kAnswers; ++r)
      sum += static_cast<double>(depths.depth(r, token, 64, r));
    return sum / kAnswers;
  };
  double fallen = 0;
  for (int i = 0; i < 64; ++i) fallen += std::exp(-4 * (i + 0.5) / 64) / 64;
  for (const std::int64_t token : {0, 10, 63}) {
    const double rate =
        0.5 * (1 - std::exp(-4 * (static_cast<double>(token) + 0.5) / 64)) / (1 - fallen);
    // The standard deviation of a depth is at most that of its normal and of rounding together.
    EXPECT_NEAR(mean_at(token), 12 * (1 - rate), 4 * std::sqrt((1 + 1.0 / 12) / kAnswers)) << token;
  }
  EXPECT_NEAR(decay_peak(1), (1 - std::exp(-4 * 63.5 / 64)) / (1 - fallen), 1e-12);
  EXPECT_EQ(decay_peak(0), 1);
}

TEST(ExitDepths, AreFixedWhereNothingIsMeasured) {
  const ExitDepths full({.technique = ExitTechnique::full}, 9, 1);
  const ExitDepths half({.technique = ExitTechnique::static_half}, 9, 1);
  EXPECT_EQ(full.depth(4, 2, 10, 8), 9);
  EXPECT_EQ(half.depth(4, 2, 10, 8), 5);
  EXPECT_EQ(half.mean_depth(), 5);
  EXPECT_EQ(half.deviation(), 0);
}

TEST(ExitDepths, OfATraceAreUsedAgainFromTheStart) {
  const ExitDepths depths({.technique = ExitTechnique::state,
                           .depths = ExitDepthConfig{.traced = {{6, 5, 5, 4}, {8, 2}}}},
                          8, 1);
  EXPECT_EQ(depths.depth(0, 3, 9, 0), 4);
  EXPECT_EQ(depths.depth(0, 4, 9, 0), 6);
  EXPECT_EQ(depths.depth(1, 1, 9, 5), 2);
  EXPECT_EQ(depths.depth(2, 0, 9, 5), 6);
  EXPECT_DOUBLE_EQ(depths.mean_depth(), 5);  // 30 / 6
  EXPECT_DOUBLE_EQ(depths.at_most(5), 4.0 / 6);
}

}  // namespace
}  // namespace tiersim::early_exit_depths_test
