// The building blocks of the statistics of a serving run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "sim/base/rng.hpp"
#include "sim/record/metrics.hpp"
#include "sim/serving/latency_histogram.hpp"
#include "sim/serving/quantiles.hpp"
#include "sim/serving/timeline.hpp"

namespace tiersim::serving_measures_test {
namespace {

constexpr SimTime at(std::int64_t ps) {
  return SimTime(Duration(ps));
}

TEST(Metrics, BracesNameSeveralStatistics) {
  constexpr MetricDefinition kFamily{"wait_s.{mean,p50,p99}", "s", ""};
  EXPECT_TRUE(defines(kFamily, "wait_s.mean"));
  EXPECT_TRUE(defines(kFamily, "wait_s.p50"));
  EXPECT_TRUE(defines(kFamily, "wait_s.p99"));
  for (const char* name : {"wait_s", "wait_s.", "wait_s.p5", "wait_s.mean,p50", "wait_s.p99}",
                           "wait_s.{mean,p50,p99}", "wait_t.p50", "p50", ""})
    EXPECT_FALSE(defines(kFamily, name)) << name;
  EXPECT_TRUE(defines({"wait_s", "s", ""}, "wait_s"));
  EXPECT_FALSE(defines({"wait_s", "s", ""}, "wait_s.mean"));
}

TEST(Metrics, OneDefinitionEach) {
  std::set<std::string_view> names;
  for (const MetricDefinition& definition : kMetrics) {
    EXPECT_TRUE(names.insert(definition.name).second) << definition.name;
    EXPECT_FALSE(definition.unit.empty()) << definition.name;
    EXPECT_FALSE(definition.meaning.empty()) << definition.name;
  }
  EXPECT_EQ(find_metric("tpot_s")->name, "tpot_s");
  EXPECT_EQ(find_metric("tpot_s.p95")->unit, "s");
  EXPECT_EQ(find_metric("tpot_s.p96"), nullptr);
}

// The 50 % quantile of ten values covers five of them, and the 91 % quantile more than nine.
TEST(Quantile, IsTheNearestRank) {
  EXPECT_EQ(nearest_rank(10, 50), 5);
  EXPECT_EQ(nearest_rank(10, 90), 9);
  EXPECT_EQ(nearest_rank(10, 91), 10);
  EXPECT_EQ(nearest_rank(1, 1), 1);
  EXPECT_EQ(nearest_rank(3, 100), 3);
  EXPECT_EQ(nearest_rank(std::int64_t{1} << 62, 50), std::int64_t{1} << 61);
  const std::vector<double> values{1, 2, 3, 10};
  EXPECT_EQ(quantile(values, 50), 2);
  EXPECT_EQ(quantile(values, 75), 3);
  EXPECT_EQ(quantile(values, 99), 10);
}

// numpy.percentile([1, 2, 3, 10], q) and the rank rounded down of trtllm-bench.
TEST(Quantile, IsThatOfTheBenchmarks) {
  const std::vector<double> values{1, 2, 3, 10};
  EXPECT_EQ(quantile_between(values, 50), 2.5);
  EXPECT_NEAR(quantile_between(values, 90), 3 + 0.7 * 7, 1e-12);
  EXPECT_EQ(quantile_between(values, 100), 10);
  EXPECT_EQ(quantile_between(std::vector<double>{4}, 99), 4);
  EXPECT_EQ(quantile_below(values, 50), 3);
  EXPECT_EQ(quantile_below(values, 99), 10);
  EXPECT_EQ(quantile_below(std::vector<double>{4}, 99), 4);
}

TEST(LatencyHistogram, OfNothingIsZero) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_EQ(histogram.quantile(99), 0);
}

// Every time up to 1024 ps, the ends of every bucket about each power of two, and the largest.
TEST(LatencyHistogram, ATimeIsWithinOneInAThousand) {
  std::vector<std::int64_t> times;
  for (std::int64_t ps = 0; ps < 1100; ++ps) times.push_back(ps);
  for (int power = 11; power < 63; ++power)
    for (const std::int64_t off : {-1, 0, 1})
      for (const std::int64_t step : {0, 1, 511})
        times.push_back((std::int64_t{1} << power) + step * (std::int64_t{1} << (power - 9)) + off);
  for (const std::int64_t ps : times) {
    LatencyHistogram histogram;
    histogram.add(Duration(0), 1);
    histogram.add(Duration(ps), 2);  // the middle one
    histogram.add(Duration(std::int64_t{1} << 62) + Duration((std::int64_t{1} << 62) - 1), 1);
    const double exact = static_cast<double>(ps) * 1e-12;
    // Rounding of the product to seconds is beyond the bound that the buckets have.
    EXPECT_LE(std::abs(histogram.quantile(50) - exact),
              exact * (LatencyHistogram::kRelativeError + 1e-15))
        << ps;
  }
}

// Lognormal times of a seed, against the sorted list.
TEST(LatencyHistogram, QuantilesAreThoseOfTheListWithinTheError) {
  Rng rng(7, "latencies");
  RecordProperty("seed", 7);
  LatencyHistogram histogram;
  std::vector<double> list;
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Duration time(static_cast<std::int64_t>(rng.exponential(3e10)) + 1);
    const auto weight = static_cast<std::int64_t>(rng.below(3));
    histogram.add(time, weight);
    for (std::int64_t k = 0; k < weight; ++k) list.push_back(to_seconds(time));
    sum += to_seconds(time) * static_cast<double>(weight);
  }
  std::ranges::sort(list);
  ASSERT_EQ(histogram.count(), static_cast<std::int64_t>(list.size()));
  EXPECT_NEAR(histogram.mean(), sum / static_cast<double>(list.size()), 1e-9 * histogram.mean());
  for (std::int64_t percent = 1; percent <= 100; ++percent) {
    const double exact = quantile(list, percent);
    EXPECT_NEAR(histogram.quantile(percent), exact, exact * LatencyHistogram::kRelativeError)
        << percent;
  }
}

TEST(LatencyHistogram, AllOfOneTimeIsThatTime) {
  LatencyHistogram histogram;
  histogram.add(Duration(12'345'678'901), 1000);
  EXPECT_EQ(histogram.quantile(1), to_seconds(Duration(12'345'678'901)));
  EXPECT_EQ(histogram.quantile(99), to_seconds(Duration(12'345'678'901)));
}

// 2 us of a level of 3, then a run of 1 s: nothing is lost when bins are merged.
TEST(Timeline, BinsGrowWithTheRunAndKeepTheirSums) {
  Timeline timeline(2);
  timeline.add_level(0, at(0), at(2'000'000), 3);
  timeline.add_count(1, at(5), 7);
  EXPECT_EQ(timeline.width(), Duration(1'000'000));
  timeline.add_level(0, at(999'999'999'999), at(1'000'000'000'000), 4);
  const auto width = timeline.width().count();
  const std::int64_t bins = (1'000'000'000'000 + width - 1) / width;
  EXPECT_GT(bins, static_cast<std::int64_t>(Timeline::kBins / 2));
  EXPECT_LE(bins, static_cast<std::int64_t>(Timeline::kBins));
  const auto sums = timeline.sums(0, at(1'000'000'000'000));
  EXPECT_EQ(static_cast<std::int64_t>(sums.size()), bins);
  EXPECT_EQ(sums.front(), 6e6);
  EXPECT_EQ(sums.back(), 4);
  EXPECT_EQ(timeline.sums(1, at(1'000'000'000'000)).front(), 7);
}

TEST(Timeline, ALevelIsCutAtTheEndsOfBins) {
  Timeline timeline(1);
  timeline.add_level(0, at(500'000), at(2'250'000), 2);
  EXPECT_EQ(timeline.sums(0, at(3'000'000)), (std::vector<double>{1e6, 2e6, 0.5e6}));
}

TEST(Timeline, WhatEndsABinIsInIt) {
  Timeline timeline(1);
  timeline.add_count(0, at(1'000'000), 1);
  timeline.add_count(0, at(1'000'001), 10);
  timeline.add_count(0, at(256'000'000), 100);
  EXPECT_EQ(timeline.width(), Duration(1'000'000));
  const auto sums = timeline.sums(0, at(256'000'000));
  EXPECT_EQ(sums[0], 1);
  EXPECT_EQ(sums[1], 10);
  EXPECT_EQ(sums[255], 100);
}

// 10 over 3 us: 3, 3 and 4, none lost.
TEST(Timeline, AnAmountIsSpreadWhole) {
  Timeline timeline(1);
  timeline.add_spread(0, at(0), at(3'000'000), 10);
  timeline.add_spread(0, at(2'000'000), at(2'000'000), 5);
  EXPECT_EQ(timeline.sums(0, at(3'000'000)), (std::vector<double>{3, 8, 4}));
}

// 0, 1, 2, ... in every batch of 10: equal means, so the interval is a point.
TEST(BatchHalfWidth, OfEqualBatchesIsNothing) {
  std::vector<double> series;
  for (int i = 0; i < 200; ++i) series.push_back(i % 10);
  EXPECT_EQ(batch_half_width(series), 0);
}

// Batch means 1, 0, 1, 0, ...: variance 5/19, so t(19) sqrt(5 / 19 / 20).
TEST(BatchHalfWidth, IsStudentsTOfTheBatchMeans) {
  std::vector<double> series;
  for (int i = 0; i < 400; ++i) series.push_back(i / 20 % 2);
  EXPECT_NEAR(*batch_half_width(series), 2.0930 * std::sqrt(5.0 / 19 / 20), 1e-3);
}

TEST(BatchHalfWidth, IsNoneOfAShortSeriesOrOneWithATrend) {
  std::vector<double> series;
  for (int i = 0; i < 99; ++i) series.push_back(i % 2);
  EXPECT_FALSE(batch_half_width(series));
  series.push_back(1);
  EXPECT_TRUE(batch_half_width(series));
  for (std::size_t i = 0; i < 1000; ++i) series.push_back(static_cast<double>(i));
  EXPECT_FALSE(batch_half_width(series));
}

}  // namespace
}  // namespace tiersim::serving_measures_test
