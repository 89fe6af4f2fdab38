#include "workloads/llm/moe_config.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace tiersim::moe_config_test {
namespace {

constexpr MoeConfig moe(std::int64_t experts, std::int64_t experts_per_token) {
  return {.experts = experts, .experts_per_token = experts_per_token};
}

TEST(ExpectedExperts, OfOneTokenAreThoseItPasses) {
  for (std::int64_t experts = 1; experts <= 400; ++experts)
    for (std::int64_t k = 1; k <= experts; ++k)
      ASSERT_EQ(expected_experts(moe(experts, k), 1), k) << experts;
}

TEST(ExpectedExperts, OfManyTokensAreAll) {
  EXPECT_EQ(expected_experts(moe(256, 8), 1'000'000), 256);
  EXPECT_EQ(expected_experts(moe(4096, 1), 1'000'000'000'000), 4096);
  EXPECT_EQ(expected_experts(moe(8, 8), 5), 8);
  EXPECT_EQ(expected_experts(moe(8, 2), 0), 0);
}

// 8 experts, 2 for each token: 8 * (3/4)^n are unreached: 6, 4.5, 3.375, 2.53, 1.90, 1.42, 1.07,
// 0.80.
TEST(ExpectedExperts, AreRoundedUp) {
  const std::int64_t expected[] = {2, 4, 5, 6, 7, 7, 7, 8};
  for (std::int64_t tokens = 1; tokens <= 8; ++tokens)
    EXPECT_EQ(expected_experts(moe(8, 2), tokens), expected[tokens - 1]) << tokens;
}

// 9 experts, 3 for each token: 9 * (2/3)^2 = 4 are unreached, not one less by a rounding error.
// 49 and 7: 49 * (6/7)^2 = 36.
TEST(ExpectedExperts, AreExactWhereTheyAreWhole) {
  EXPECT_EQ(expected_experts(moe(9, 3), 2), 5);
  EXPECT_EQ(expected_experts(moe(49, 7), 2), 13);
  EXPECT_EQ(expected_experts(moe(64, 32), 6), 63);
  EXPECT_EQ(expected_experts(moe(64, 32), 7), 64);  // 0.5 unreached
}

TEST(ExpectedExperts, NeverFallWithTheTokensAndFollowTheFormula) {
  for (const MoeConfig& m :
       {moe(8, 2), moe(64, 6), moe(160, 6), moe(256, 8), moe(384, 8), moe(128, 8), moe(4096, 1)}) {
    std::int64_t before = 0;
    for (std::int64_t tokens = 1; tokens <= 20'000; ++tokens) {
      const std::int64_t now = expected_experts(m, tokens);
      ASSERT_GE(now, before) << m.experts << ' ' << tokens;
      const auto all = static_cast<double>(m.experts);
      const double share = static_cast<double>(m.experts_per_token) / all;
      const double mean = all * (1.0 - std::pow(1.0 - share, static_cast<double>(tokens)));
      // Rounded up, and both sides carry rounding errors far below 1e-6 of an expert.
      ASSERT_GE(static_cast<double>(now), mean - 1e-6) << m.experts << ' ' << tokens;
      ASSERT_LT(static_cast<double>(now), mean + 1.0 + 1e-6) << m.experts << ' ' << tokens;
      before = now;
    }
  }
}

}  // namespace
}  // namespace tiersim::moe_config_test
