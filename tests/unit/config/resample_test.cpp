#include "sim/config/resample.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/sample_text.hpp"

namespace tiersim::resample_test {
namespace {

using detail::normal_quantile;
using detail::Scores;
using detail::shuffled_scores;

// Numbers that were estimated together, a count, and the constraints between them.
struct Fit {
  Sourced<double> a{1, NumberClass::fitted, "a"};
  Sourced<double> b{1, NumberClass::fitted, "b"};
  Sourced<double> share{0.5, NumberClass::fitted, "share"};
  Sourced<std::int64_t> lanes{10, NumberClass::fitted, "lanes"};
  Sourced<Bytes> size{Bytes::from_base(100), NumberClass::fitted, "size"};
  double limit = 1e9;
  std::vector<double> correlation;
};
void describe(Fields& f, Fit& c) {
  f.optional("a", c.a, "A.");
  f.optional("b", c.b, "B.");
  f.optional("share", c.share, "Share.", in_range(0.0, 1.0));
  f.optional("lanes", c.lanes, "Lanes.", positive());
  f.optional("size", c.size, "Size.", positive());
  f.optional("limit", c.limit, "Of a.");
  f.optional("correlation", c.correlation, "Of a and b.");
  f.correlated({"a", "b"}, "correlation", c.correlation);
  f.check(c.a.value <= c.limit, "a", "is above the limit");
}

// The value of member() in every draw.
template <class Config, class Member>
auto drawn(Config& config, std::int64_t draws, const Member& member) {
  Resampler resampler(config, draws, 1);
  std::vector<std::decay_t<decltype(member(config))>> out;
  for (std::size_t i = 0; i < resampler.draws(); ++i) {
    EXPECT_EQ(resampler.draw(i), "");
    out.push_back(member(config));
  }
  return out;
}
template <class Config, class Member>
auto sorted(Config& config, std::int64_t draws, const Member& member) {
  auto all = drawn(config, draws, member);
  std::ranges::sort(all);
  return all;
}

TEST(NormalQuantile, IsThatOfTables) {
  EXPECT_EQ(normal_quantile(0.5), 0);
  // Within the 1e-15 of its header, as the decimal digits of the tables are.
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 2e-15);
  EXPECT_NEAR(normal_quantile(0.025), -1.959963984540054, 2e-15);
  EXPECT_NEAR(normal_quantile(0.75), 0.6744897501960817, 1e-15);
  EXPECT_NEAR(normal_quantile(0.001), -3.090232306167813, 4e-15);
}

TEST(ShuffledScores, HoldEveryQuantileOnceInAnOrderOfTheirOwn) {
  Scores a = shuffled_scores(100, 1, "a");
  const Scores b = shuffled_scores(100, 1, "b");
  EXPECT_EQ(a, shuffled_scores(100, 1, "a"));
  EXPECT_NE(a, b);
  EXPECT_NE(a, shuffled_scores(100, 2, "a"));
  EXPECT_THAT(a, ::testing::UnorderedElementsAreArray(b));
  EXPECT_FALSE(std::ranges::is_sorted(a));
  std::ranges::sort(a);
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(a[i], normal_quantile((static_cast<double>(i) + 0.5) / 100));
}

double correlation_of(const Scores& x, const Scores& y) {  // both of mean 0
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0) /
         std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0) *
                   std::inner_product(y.begin(), y.end(), y.begin(), 0.0));
}

TEST(Correlate, GivesSamplesTheirCorrelationsAndKeepsTheirElements) {
  constexpr std::size_t kDraws = 1000;
  const std::vector<Scores> before{shuffled_scores(kDraws, 1, "a"), shuffled_scores(kDraws, 1, "b"),
                                   shuffled_scores(kDraws, 1, "c")};
  std::vector<Scores> samples = before;
  detail::correlate(samples, {0.8, -0.6, 0});
  // A sample's correlation r has a standard error of (1 - r^2) / sqrt(n): four of them.
  const auto expect = [&](std::size_t i, std::size_t j, double r) {
    EXPECT_NEAR(correlation_of(samples[i], samples[j]), r,
                4 * (1 - r * r) / std::sqrt(double{kDraws}));
  };
  expect(0, 1, 0.8);
  expect(0, 2, -0.6);
  expect(1, 2, 0);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_THAT(samples[i], ::testing::UnorderedElementsAreArray(before[i]));
}

TEST(Resampler, DrawsNothingWhereNoNumberHasAnInterval) {
  Fit fit;
  EXPECT_THAT(Resampler(fit, 20, 1).paths(), ::testing::IsEmpty());
}

// The 3rd and the 98th of 100 draws stand for 2.5 / 100 and 97.5 / 100.
TEST(Resampler, HasTheEndsOfTheIntervalAsItsQuantiles) {
  Fit fit;
  fit.size.ci95 = {Bytes::from_base(50), Bytes::from_base(400)};
  const auto size = sorted(fit, 100, [](const Fit& f) { return f.size.value; });
  EXPECT_EQ(size[2], Bytes::from_base(50));
  EXPECT_EQ(size[97], Bytes::from_base(400));
}

TEST(Resampler, DrawsLogarithmsInTwoPieces) {
  Fit fit;
  fit.a = {8, NumberClass::fitted, "a", Interval<double>{4, 32}};
  const auto a = sorted(fit, 100, [](const Fit& f) { return f.a.value; });
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double z = normal_quantile((static_cast<double>(i) + 0.5) / 100) / normal_quantile(0.975);
    // 2 below, 4 above. Both sides round a handful of times at 2e-16 each.
    EXPECT_NEAR(a[i] / (8 * std::pow(z > 0 ? 4 : 2, z)), 1, 1e-14) << i;
  }
}

TEST(Resampler, DrawsWhatMayBeZeroFromANormalAndKeepsItsLimits) {
  Fit fit;
  fit.share.ci95 = {0, 0.9};
  const auto share = sorted(fit, 100, [](const Fit& f) { return f.share.value; });
  // z = -2.17 and -2.58 are below 0.
  EXPECT_EQ(share[0], 0);
  EXPECT_EQ(share[1], 0);
  EXPECT_NEAR(share[2], 0, 1e-15);
  EXPECT_NEAR(share[97], 0.9, 1e-15);
  // z = 2.58 is at 0.5 + 0.4 * 2.58 / 1.96 = 1.03.
  EXPECT_LT(share[98], 1);
  EXPECT_EQ(share[99], 1);
  for (std::size_t i = 3; i < 50; ++i) {  // a line in z
    const double z = normal_quantile((static_cast<double>(i) + 0.5) / 100) / normal_quantile(0.975);
    EXPECT_NEAR(share[i], 0.5 + 0.5 * z, 1e-15);
  }
}

TEST(Resampler, RoundsCountsAndStaysOffALimitThatIsNotAllowed) {
  Fit fit;
  fit.lanes.ci95 = {5, 20};
  fit.size.ci95 = {Bytes::from_base(1), Bytes::from_base(100)};
  // 100^(1 - 1.314) = 0.2 rounds to 0, which positive() refuses: the end of the interval instead.
  const auto size = sorted(fit, 100, [](const Fit& f) { return f.size.value; });
  EXPECT_EQ(size.front(), Bytes::from_base(1));
  fit.lanes.value = 10;
  fit.size.ci95.reset();
  const auto lanes = sorted(fit, 100, [](const Fit& f) { return f.lanes.value; });
  EXPECT_EQ(lanes[2], 5);
  EXPECT_EQ(lanes[50], 10);  // 10 * 2^(0.0125 / 1.96)
  EXPECT_EQ(lanes[97], 20);
}

TEST(Resampler, DrawsANumberInTheSameWayWhateverElseThereIs) {
  Fit alone;
  alone.a.ci95 = {0.5, 2};
  Fit among = alone;
  among.b.ci95 = {0.5, 2};
  among.lanes.ci95 = {5, 20};
  Fit wider = alone;
  wider.a.ci95 = {0.25, 4};
  const auto a = [](const Fit& f) { return f.a.value; };
  const auto first = drawn(alone, 60, a);
  EXPECT_EQ(drawn(among, 60, a), first);
  const auto wide = drawn(wider, 60, a);
  // The same scores at twice the width: squares, of numbers that round at 4e-16 each.
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_NEAR(wide[i] / (first[i] * first[i]), 1, 4e-15);
}

TEST(Resampler, DrawsNumbersTogetherThatWereEstimatedTogether) {
  Fit fit;
  fit.a.ci95 = fit.b.ci95 = {0.5, 2};
  const auto product = [](const Fit& f) { return f.a.value * f.b.value; };
  fit.correlation = {-1};
  for (const double p : drawn(fit, 100, product)) EXPECT_NEAR(p, 1, 4e-15);
  // Independent, the logarithm of the product is as wide as sqrt(2) of one.
  fit.correlation = {};
  fit.a.value = fit.b.value = 1;
  const Interval<double> apart = central_95(drawn(fit, 1000, product));
  fit.correlation = {1};
  fit.a.value = fit.b.value = 1;
  EXPECT_NEAR(central_95(drawn(fit, 100, product)).high, 4, 4e-15);
  // z at 97.5 % of n draws has a standard error of sqrt(p (1 - p) / n) / density = 0.0845: four.
  const double log_z = std::log(apart.high) / std::log(2) / std::sqrt(2) * 1.96;
  EXPECT_NEAR(log_z, 1.96, 4 * 0.0845);
}

TEST(Resampler, LeavesANumberThatDoesNotCountAsItIs) {
  Fit all;
  all.a.ci95 = {0.5, 2};
  all.b.ci95 = {0.5, 2};
  const auto a = [](const Fit& f) { return f.a.value; };
  const auto drawn_with_b = drawn(all, 20, a);
  all.a.value = 1;
  all.b.value = 1;
  Resampler resampler(all, 20, 1, [](const std::string& path) { return path == "a"; });
  for (std::size_t i = 0; i < resampler.draws(); ++i) {
    EXPECT_EQ(resampler.draw(i), "");
    EXPECT_EQ(all.a.value, drawn_with_b[i]);
    EXPECT_EQ(all.b.value, 1);
  }
}

TEST(Resampler, LeavesANumberWithoutIntervalAsItIs) {
  Fit fit;
  fit.a.ci95 = {0.5, 2};
  fit.correlation = {0.9};
  for (const double b : drawn(fit, 20, [](const Fit& f) { return f.b.value; })) EXPECT_EQ(b, 1);
}

TEST(Resampler, FindsNumbersInEveryPartOfAConfiguration) {
  sample::Read got = sample::read_text(sample::with(
      "4800 GB/s", "{value: 4 TB/s, class: fitted, ci95: [3 TB/s, 5 TB/s], source: x}"));
  ASSERT_EQ(got.mistakes, "");
  const Resampler resampler(got.config, 20, 1);
  EXPECT_THAT(resampler.paths(), ::testing::ElementsAre("devices.hbm.peak"));
}

TEST(Resampler, SaysWhichCheckADrawBreaks) {
  Fit fit;
  fit.a.ci95 = {0.5, 2};
  fit.limit = 1.9;
  Resampler resampler(fit, 100, 1);
  std::map<std::string, int> told;
  for (std::size_t i = 0; i < resampler.draws(); ++i) ++told[resampler.draw(i)];
  // 1.9 = 2^(z / 1.96) at z = 1.815, above which are 3.5 % of the scores: 3 or 4 of 100, and here
  // those at 96.5 % (1.812) and below hold.
  const std::map<std::string, int> expected{{"", 97}, {"a: is above the limit", 3}};
  EXPECT_EQ(told, expected);
}

TEST(Resampler, ThrowsWhereAUnitCannotHoldADraw) {
  Fit fit;
  fit.size = {Bytes::from_base(4'000'000'000'000'000'000), NumberClass::fitted, "x", {}};
  fit.size.ci95 = {Bytes::from_base(1), Bytes::from_base(9'000'000'000'000'000'000)};
  EXPECT_THROW(static_cast<void>(drawn(fit, 100, [](const Fit& f) { return f.size.value; })),
               UnitOverflow);
}

// Two systems that have one device each.
struct Server {
  Fit system;
};
void describe(Fields& f, Server& c) {
  f.optional("system", c.system, "System.");
}
struct TwoSystems {
  Fit system;
  Server other;
};
void describe(Fields& f, TwoSystems& c) {
  f.optional("system", c.system, "System.");
  f.optional("other", c.other, "Another.");
}

TEST(Resampler, DrawsANumberOfTwoSystemsOnce) {
  TwoSystems config;
  config.system.a.ci95 = config.other.system.a.ci95 = {0.5, 2};
  config.system.b.ci95 = config.other.system.b.ci95 = {0.5, 2};
  config.other.system.b.source = "another measurement";
  const auto together = [&](const auto& of) {
    for (const auto& [first, second] : drawn(config, 50, of))
      if (first != second) return false;
    return true;
  };
  EXPECT_TRUE(together(
      [](const TwoSystems& c) { return std::pair(c.system.a.value, c.other.system.a.value); }));
  EXPECT_FALSE(together(
      [](const TwoSystems& c) { return std::pair(c.system.b.value, c.other.system.b.value); }));
  EXPECT_FALSE(
      together([](const TwoSystems& c) { return std::pair(c.system.a.value, c.system.b.value); }));
}

TEST(Central95, IsFromTheQuantilesThatTheOrderStandsFor) {
  std::vector<double> hundred(100);
  std::iota(hundred.begin(), hundred.end(), 1.0);
  EXPECT_EQ(central_95(hundred), (Interval<double>{3, 98}));
  // 2.5 % of 200 lies half way from the 5th (2.25 %) to the 6th (2.75 %).
  std::vector<double> two_hundred(200);
  std::iota(two_hundred.begin(), two_hundred.end(), 1.0);
  EXPECT_EQ(central_95(two_hundred), (Interval<double>{5.5, 195.5}));
  EXPECT_EQ(central_95({3, 1}), (Interval<double>{1, 3}));
  EXPECT_EQ(central_95({7, 7, 7}), (Interval<double>{7, 7}));
}

}  // namespace
}  // namespace tiersim::resample_test
