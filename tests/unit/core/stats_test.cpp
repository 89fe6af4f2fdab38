#include "sim/core/stats.hpp"

#include <chrono>
#include <cmath>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"

namespace tiersim::stats_test {
namespace {

using namespace std::chrono_literals;

TEST(Tally, HasTheMomentsOfASample) {
  Tally tally;
  for (const double x : {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}) tally.add(x);
  EXPECT_EQ(tally.count(), 8);
  EXPECT_DOUBLE_EQ(tally.mean(), 5.0);
  EXPECT_DOUBLE_EQ(tally.variance(), 32.0 / 7.0);
  EXPECT_EQ(tally.min(), 2.0);
  EXPECT_EQ(tally.max(), 9.0);
}

// 1e9 + {4, 7, 13, 16}: mean 1e9 + 10, variance 30; the naive formula gives rubbish.
TEST(Tally, LosesNothingToALargeMean) {
  Tally tally;
  for (const double x : {4.0, 7.0, 13.0, 16.0}) tally.add(1e9 + x);
  EXPECT_DOUBLE_EQ(tally.mean(), 1e9 + 10);
  EXPECT_DOUBLE_EQ(tally.variance(), 30.0);
}

TEST(TimeWeighted, WeighsByTime) {
  TimeWeighted length{SimTime()};
  length.set(SimTime(2ns), 3);   // 0 for 2 ns
  length.add(SimTime(6ns), -2);  // 3 for 4 ns
  EXPECT_DOUBLE_EQ(length.mean(SimTime(10ns)), (3 * 4 + 1 * 4) / 10.0);
  EXPECT_EQ(length.max(), 3);
  length.restart(SimTime(10ns));
  EXPECT_DOUBLE_EQ(length.mean(SimTime(10ns)), 1.0);
  EXPECT_DOUBLE_EQ(length.mean(SimTime(11ns)), 1.0);
  EXPECT_EQ(length.max(), 1);
}

// Of 400 intervals of 95 % the number that hold the mean is binomial with deviation 4.4; four of
// them are 17 either way. Independent values, so that batches are independent.
TEST(BatchMeans, CoversTheMeanAsOftenAsItSays) {
  constexpr std::uint64_t kSeed = 3;
  RecordProperty("seed", static_cast<int>(kSeed));
  Rng rng(kSeed, "batch means");
  int covered = 0;
  for (int i = 0; i < 400; ++i) {
    BatchMeans means(20);
    for (int n = 0; n < 2000; ++n) means.add(rng.exponential(1.0));
    const BatchMeans::Interval interval = means.interval();
    covered += std::abs(interval.mean - 1.0) <= interval.half_width;
  }
  EXPECT_NEAR(covered, 380, 18);
}

TEST(BatchMeans, HasNoIntervalBeforeTwoBatches) {
  BatchMeans means;
  means.add(1.0);
  EXPECT_TRUE(std::isinf(means.interval().half_width));
}

}  // namespace
}  // namespace tiersim::stats_test
