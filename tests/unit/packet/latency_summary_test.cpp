#include "hwmodels/packet/latency_summary.hpp"

#include <gtest/gtest.h>

namespace tiersim::latency_summary_test {
namespace {

TEST(LatencySummary, PercentilesAreOfTheNearestRank) {
  std::vector<Duration> samples;
  for (int i = 200; i >= 1; --i) samples.emplace_back(i);
  const LatencySummary summary = summarise(samples);
  EXPECT_EQ(summary.p50, Duration(100));
  EXPECT_EQ(summary.p99, Duration(198));
  EXPECT_EQ(summary.longest, Duration(200));
  EXPECT_EQ(summary.mean, Duration(101));  // 100.5, rounded up
}

TEST(LatencySummary, OfOneSampleIsThatSample) {
  std::vector<Duration> samples{Duration(7)};
  const LatencySummary summary = summarise(samples);
  EXPECT_EQ(summary.mean, Duration(7));
  EXPECT_EQ(summary.p50, Duration(7));
  EXPECT_EQ(summary.p99, Duration(7));
}

TEST(LatencySummary, OfNothingIsZero) {
  std::vector<Duration> samples;
  EXPECT_EQ(summarise(samples).longest, Duration(0));
}

}  // namespace
}  // namespace tiersim::latency_summary_test
