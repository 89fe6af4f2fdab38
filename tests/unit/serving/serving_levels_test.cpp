// Levels over a window, and the sums of parts of a run.
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/serving/latency_histogram.hpp"
#include "sim/serving/level_series.hpp"
#include "sim/serving/timeline.hpp"

namespace tiersim::serving_levels_test {
namespace {

constexpr SimTime at(std::int64_t ps) {
  return SimTime(Duration(ps));
}

// 3 lasts from 10 to 20; the 7 at 20 lasts no time, in whatever order it comes.
TEST(LevelSeries, AValueCountsIfItLasts) {
  for (const bool up_first : {true, false}) {
    LevelSeries levels(1);
    levels.open(at(0));
    levels.change({.at = at(10), .by = 3});
    levels.change({.at = at(20), .by = up_first ? 4 : -2});
    levels.change({.at = at(20), .by = up_first ? -6 : 0});
    if (!up_first) levels.change({.at = at(20), .by = 0});
    levels.finish(at(40));
    EXPECT_EQ(levels.of(0).max(), 3) << up_first;
    EXPECT_DOUBLE_EQ(levels.of(0).mean(at(40)), (3 * 10 + 1 * 20) / 40.0);
  }
}

// Before: 9 until 10. Within 10 to 30: 9, 5 from 20. After: 100 from 30.
TEST(LevelSeries, OnlyTheWindowCounts) {
  LevelSeries levels(2);
  levels.change({.at = at(0), .by = 50, .level = 1});
  levels.change({.at = at(5), .by = -41, .level = 1});
  levels.open(at(10));
  levels.close(at(30));
  levels.change({.at = at(20), .by = -4, .level = 1});
  levels.change({.at = at(30), .by = 95, .level = 1});
  levels.change({.at = at(35), .by = -95, .level = 1});
  levels.finish(at(40));
  EXPECT_EQ(levels.of(1).max(), 9);
  EXPECT_DOUBLE_EQ(levels.of(1).mean(at(30)), 7);
  EXPECT_EQ(levels.of(0).max(), 0);
}

// What changes at the instant at which the window begins lasts from there on.
TEST(LevelSeries, BeginsWithWhatTheFirstInstantLeaves) {
  LevelSeries levels(1);
  levels.change({.at = at(10), .by = 8});
  levels.open(at(10));
  levels.change({.at = at(10), .by = -6});
  levels.change({.at = at(20), .by = -2});
  levels.finish(at(30));
  EXPECT_EQ(levels.of(0).max(), 2);
  EXPECT_DOUBLE_EQ(levels.of(0).mean(at(30)), 1);
}

TEST(MergeRuns, SortsRunsByTime) {
  for (std::size_t runs = 0; runs <= 9; ++runs) {
    std::vector<LevelChange> changes;
    std::vector<std::size_t> begins;
    for (std::size_t r = 0; r < runs; ++r) {
      begins.push_back(changes.size());
      for (std::size_t i = 0; i < r; ++i)
        changes.push_back({.at = at(static_cast<std::int64_t>(7 * i + 3 * r)), .by = 1});
    }
    const std::size_t count = changes.size();
    merge_runs(changes, begins);
    EXPECT_EQ(changes.size(), count);
    EXPECT_TRUE(std::ranges::is_sorted(changes, {}, &LevelChange::at)) << runs;
  }
}

// Two parts of a run see random times, of different lengths; together they are as one that sees
// all.
TEST(Timeline, TheSumOfPartsIsThatOfTheWhole) {
  constexpr std::uint64_t kSeed = 3;
  RecordProperty("seed", static_cast<int>(kSeed));
  Rng rng(kSeed, "timeline");
  Timeline whole(3);
  std::vector<Timeline> parts{Timeline(3), Timeline(3)};
  LatencyHistogram all;
  std::vector<LatencyHistogram> histograms(2);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t part = rng.below(2);
    const auto from = static_cast<std::int64_t>(rng.below(part == 0 ? 1'000'000 : 3'000'000'000));
    const auto to = from + static_cast<std::int64_t>(rng.below(50'000'000));
    const auto value = static_cast<std::int64_t>(rng.below(1000));
    for (Timeline* t : {&whole, &parts[part]}) {
      t->add_count(0, at(from), value);
      t->add_level(1, at(from), at(to), value);
      t->add_spread(2, at(from), at(to), value);
    }
    for (LatencyHistogram* h : {&all, &histograms[part]}) h->add(Duration(to - from), value);
  }
  Timeline sum(3);
  LatencyHistogram added;
  for (const Timeline& part : parts) sum.add(part);
  for (const LatencyHistogram& part : histograms) added.add(part);
  EXPECT_EQ(sum.width(), whole.width());
  for (std::size_t series = 0; series < 3; ++series)
    EXPECT_EQ(sum.sums(series, at(3'000'000'000)), whole.sums(series, at(3'000'000'000)));
  EXPECT_EQ(added.count(), all.count());
  EXPECT_EQ(added.mean(), all.mean());
  for (const std::int64_t percent : {1, 50, 99, 100})
    EXPECT_EQ(added.quantile(percent), all.quantile(percent));
}

}  // namespace
}  // namespace tiersim::serving_levels_test
