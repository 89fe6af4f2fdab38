// Servers made of two times: runs of `users` users take a + users * b for a token.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/base/rng.hpp"
#include "sim/validate/server_fit.hpp"

namespace tiersim::server_fit_test {
namespace {

constexpr double kGpu = 5e-3;
const std::vector<double> kUsers{1, 8, 32, 64, 128};

// Logarithms of made-up over measured values, whose own logarithms are off by `noise`.
LogErrors errors_against(double sync, double sequence, std::vector<double> noise) {
  return [=](const std::vector<double>& seconds) -> Expected<std::vector<double>> {
    std::vector<double> out;
    for (std::size_t i = 0; i < kUsers.size(); ++i) {
      const double measured = kGpu + sync + kUsers[i] * sequence;
      out.push_back(std::log((kGpu + seconds[0] + kUsers[i] * seconds[1]) / measured) - noise[i]);
    }
    return out;
  };
}
const std::vector<FreeTime> kTimes{{"sync", 1e-4, 1e-4}, {"sequence", 1e-6, 2e-6}};

TEST(ServerFit, FindsTheTimesOfAServerThatIsMadeOfThem) {
  const auto fit = fit_times(kTimes, errors_against(2e-3, 50e-6, {0, 0, 0, 0, 0}));
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->times[0].value, 2e-3, 2e-6);
  EXPECT_NEAR(fit->times[1].value, 50e-6, 1e-7);
  for (const double after : fit->after) EXPECT_NEAR(after, 0, 1e-3);
  EXPECT_LT(fit->before[4], -0.5);
}

// Student's t with three degrees of freedom: 95 % of the intervals hold the truth.
TEST(ServerFit, HasIntervalsThatHoldTheTruth) {
  Rng rng(5, "server fit");
  int held = 0;
  constexpr int kFits = 200;
  for (int k = 0; k < kFits; ++k) {
    std::vector<double> noise;
    for (std::size_t i = 0; i < kUsers.size(); ++i) {
      double sum = -6;  // the sum of twelve uniform numbers has variance 1
      for (int u = 0; u < 12; ++u) sum += rng.uniform();
      noise.push_back(0.02 * sum);
    }
    const auto fit = fit_times(kTimes, errors_against(2e-3, 50e-6, noise));
    ASSERT_TRUE(fit);
    held += fit->times[1].ci95.low <= 50e-6 && 50e-6 <= fit->times[1].ci95.high ? 1 : 0;
  }
  // Binomial(200, 0.95): 190 and a standard deviation of 3.1.
  EXPECT_GE(held, 180);
  EXPECT_LE(held, 199);
}

TEST(ServerFit, LeavesATimeThatNothingDependsOn) {
  const LogErrors both = errors_against(2e-3, 50e-6, {0, 0, 0, 0, 0});
  const LogErrors without = [&](const std::vector<double>& seconds) {
    return both({2e-3, seconds[0]});
  };
  const auto fit = fit_times({{"sequence", 1e-6, 2e-6}, {"launch", 3e-6, 1e-6}}, without);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->times[0].value, 50e-6, 1e-7);
  EXPECT_TRUE(fit->times[0].determined);
  EXPECT_FALSE(fit->times[1].determined);
  EXPECT_EQ(fit->times[1].value, 3e-6);
}

TEST(ServerFit, SaysThatTwoTimesCannotBeToldApart) {
  const LogErrors both = errors_against(2e-3, 50e-6, {0, 0.01, 0, -0.01, 0});
  const LogErrors twice = [&](const std::vector<double>& seconds) {
    return both({2e-3, seconds[0] + seconds[1]});
  };
  const auto fit = fit_times({{"sequence", 1e-6, 2e-6}, {"again", 1e-6, 2e-6}}, twice);
  ASSERT_TRUE(fit);
  EXPECT_FALSE(fit->times[0].determined);
  EXPECT_FALSE(fit->times[1].determined);
}

// The sum of two times is told, not each; a third one is told all the same.
TEST(ServerFit, FitsTheTimesBesideTwoThatCannotBeToldApart) {
  const LogErrors both = errors_against(2e-3, 50e-6, {0, 0, 0, 0, 0});
  const LogErrors three = [&](const std::vector<double>& seconds) {
    return both({seconds[0], seconds[1] + seconds[2]});
  };
  const auto fit =
      fit_times({{"sync", 1e-4, 1e-4}, {"sequence", 20e-6, 2e-6}, {"again", 30e-6, 2e-6}}, three);
  ASSERT_TRUE(fit);
  EXPECT_TRUE(fit->times[0].determined);
  EXPECT_NEAR(fit->times[0].value, 2e-3, 2e-6);
  EXPECT_FALSE(fit->times[1].determined);
  EXPECT_EQ(fit->times[1].value, 20e-6);
  EXPECT_FALSE(fit->times[2].determined);
  EXPECT_EQ(fit->times[2].value, 30e-6);
}

TEST(ServerFit, StaysBelowTheLongestTimeOfAServer) {
  const auto slow = fit_times({{"sync", 0.5, 1e-4}}, [](const std::vector<double>& seconds) {
    return Expected<std::vector<double>>({std::log(seconds[0] / 3), std::log(seconds[0] / 3)});
  });
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->times[0].value, kLongestTime);
  EXPECT_LE(slow->times[0].ci95.high, kLongestTime);
}

TEST(ServerFit, IsNeverNegativeAndBearsAnOddRun) {
  const auto fast = fit_times(kTimes, errors_against(-1e-3, 50e-6, {0, 0, 0, 0, 0}));
  ASSERT_TRUE(fast);
  EXPECT_GE(fast->times[0].value, 0);
  EXPECT_GE(fast->times[0].ci95.low, 0);
  const auto odd = fit_times(kTimes, errors_against(2e-3, 50e-6, {0, 0, 1.5, 0, 0}));
  ASSERT_TRUE(odd);
  EXPECT_NEAR(odd->times[1].value, 50e-6, 5e-6);
}

TEST(ServerFit, PassesOnWhyARunCannotBeSimulated) {
  const LogErrors none = [](const std::vector<double>&) -> Expected<std::vector<double>> {
    return Unexpected(std::string("does not fit"));
  };
  const auto fit = fit_times(kTimes, none);
  ASSERT_FALSE(fit);
  EXPECT_EQ(fit.error(), "does not fit");
}

}  // namespace
}  // namespace tiersim::server_fit_test
