#include "sim/runner/solve.hpp"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/runner/setting_range.hpp"

namespace tiersim::solve_test {
namespace {

using Outcome = Solution::Outcome;

Solution solved(double (*metric)(double), double target, SolveRange range) {
  const auto result = solve([&](double x) -> Expected<double> { return metric(x); }, target, range);
  EXPECT_TRUE(result);
  return *result;
}

double line(double x) {
  return 3 * x + 1;
}
double hyperbola(double x) {
  return 2 + 60 / x;
}  // a time that a bandwidth shortens
double steps(double x) {
  return std::floor(x / 10);
}
double constant(double) {
  return 7;
}
double valley(double x) {
  return (x - 5) * (x - 5);
}

// The stated tolerance, as a factor of x.
void expect_at(const Solution& solution, double x) {
  EXPECT_EQ(solution.outcome, Outcome::found);
  EXPECT_NEAR(solution.x, x, x * kSolveTolerance);
}

TEST(Solve, ALineIsFound) {
  const Solution solution = solved(line, 16, {.low = 0, .high = 10});
  expect_at(solution, 5);
  EXPECT_EQ(solution.metric, line(solution.x));  // as evaluated, not the target
  EXPECT_TRUE(solution.rises);
  EXPECT_TRUE(solution.monotone);
}

TEST(Solve, ADecreasingMetricOverThreeDecades) {
  const Solution solution = solved(hyperbola, 5, {.low = 1, .high = 1000});
  expect_at(solution, 20);
  EXPECT_FALSE(solution.rises);
}

// Bisection alone needs log2(ln(1000) / 1e-6) = 23 evaluations between the ends.
TEST(Solve, ASmoothMetricNeedsFewEvaluationsAndAStepNoMoreThanBisectionTwice) {
  EXPECT_LE(solved(hyperbola, 5, {.low = 1, .high = 1000}).evaluations, 14);
  EXPECT_LE(solved(line, 16, {.low = 0, .high = 10}).evaluations, 14);
  EXPECT_LE(solved(steps, 3.5, {.low = 1, .high = 1000}).evaluations, 2 + 2 * 23);
}

TEST(Solve, AStepIsFoundWhereItRises) {
  const Solution solution = solved(steps, 3.5, {.low = 1, .high = 1000});
  expect_at(solution, 40);
  EXPECT_EQ(solution.metric, 3);  // of the two sides, the one that is not above the target
}

TEST(Solve, OfAPlateauAtTheTargetTheEndIsFound) {
  expect_at(solved(steps, 3, {.low = 1, .high = 1000}), 40);
}

TEST(Solve, AnEndThatIsTheTargetIsFound) {
  EXPECT_EQ(solved(line, 1, {.low = 0, .high = 10}).x, 0);
  EXPECT_EQ(solved(line, 31, {.low = 0, .high = 10}).x, 10);
}

TEST(Solve, OutOfReachIsTheNearestEnd) {
  const Solution above = solved(hyperbola, 1, {.low = 1, .high = 1000});
  EXPECT_EQ(above.outcome, Outcome::beyond);
  EXPECT_EQ(above.x, 1000);
  EXPECT_EQ(above.metric, hyperbola(1000));
  const Solution below = solved(hyperbola, 100, {.low = 1, .high = 1000});
  EXPECT_EQ(below.outcome, Outcome::beyond);
  EXPECT_EQ(below.x, 1);
}

TEST(Solve, AFlatMetricHasNoAnswer) {
  EXPECT_EQ(solved(constant, 8, {.low = 1, .high = 2}).outcome, Outcome::flat);
  EXPECT_EQ(solved(constant, 7, {.low = 1, .high = 2}).outcome, Outcome::found);
}

TEST(Solve, AMetricThatTurnsIsSaidToTurn) {
  EXPECT_FALSE(solved(valley, 30, {.low = 0, .high = 16}).monotone);
}

// steps(39) = 3, steps(40) = 4.
TEST(Solve, AWholeNumberIsTheLargestAtWhichARisingMetricIsNotAboveTheTarget) {
  const Solution between = solved(steps, 3.5, {.low = 1, .high = 100, .whole = true});
  EXPECT_EQ(between.x, 39);
  EXPECT_EQ(between.metric, 3);
  ASSERT_TRUE(between.next);
  EXPECT_EQ(between.next->x, 40);
  EXPECT_EQ(between.next->metric, 4);
  EXPECT_EQ(solved(steps, 3.0, {.low = 1, .high = 100, .whole = true}).x, 39);
  EXPECT_EQ(solved(steps, 4.0, {.low = 1, .high = 100, .whole = true}).x, 49);
  EXPECT_EQ(solved(steps, 0, {.low = 1, .high = 100, .whole = true}).x, 9);
  EXPECT_EQ(solved(steps, 10, {.low = 1, .high = 100, .whole = true}).x, 100);
}

// hyperbola(12) = 7, hyperbola(11) = 7.45...
TEST(Solve, AWholeNumberIsTheSmallestWhereTheMetricFalls) {
  for (const double target : {7.0, 7.2}) {
    const Solution solution = solved(hyperbola, target, {.low = 1, .high = 60, .whole = true});
    EXPECT_EQ(solution.x, 12);
    EXPECT_EQ(solution.metric, 7);
    ASSERT_TRUE(solution.next);
    EXPECT_EQ(solution.next->x, 11);
  }
  EXPECT_FALSE(solved(hyperbola, 62, {.low = 1, .high = 60, .whole = true}).next);
}

TEST(Solve, ContinuousAndWholeAnswersLieOnTheSameSide) {
  for (const bool whole : {false, true}) {
    const Solution rising = solved(line, 16.5, {.low = 0, .high = 10, .whole = whole});
    EXPECT_LE(rising.metric, 16.5);
    EXPECT_LT(rising.x, 5.5);
    const Solution falling = solved(hyperbola, 6.9, {.low = 1, .high = 60, .whole = whole});
    EXPECT_LE(falling.metric, 6.9);
    EXPECT_GT(falling.x, 60 / 4.9);
  }
}

TEST(Solve, TheFirstErrorEndsTheSearch) {
  const auto result = solve(
      [](double x) -> Expected<double> {
        if (x > 4 && x < 6) return Unexpected(std::string("does not fit"));
        return x;
      },
      5, {.low = 0, .high = 10});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), "does not fit");
}

Expected<double> runs_to_57(double x) {
  if (x > 57) return Unexpected(fmt::format("{} does not fit", x));
  return x;
}

TEST(Solve, WhereOneEndCannotRunTheSearchGoesAsFarAsThereIsAMetric) {
  const auto found = solve(runs_to_57, 20.5, {.low = 1, .high = 4000, .whole = true});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->x, 20);
  EXPECT_EQ(found->low, 1);
  EXPECT_EQ(found->high, 57);
  EXPECT_EQ(found->left_out, "58 does not fit");
  const auto beyond = solve(runs_to_57, 100, {.low = 1, .high = 4000, .whole = true});
  EXPECT_EQ(beyond->outcome, Outcome::beyond);
  EXPECT_EQ(beyond->x, 57);
  const auto smooth = solve(runs_to_57, 100, {.low = 1, .high = 4000});
  EXPECT_EQ(smooth->outcome, Outcome::beyond);
  EXPECT_NEAR(smooth->x, 57, 57 * kSolveTolerance);
  const auto one = solve(runs_to_57, 100, {.low = 57, .high = 58, .whole = true});
  EXPECT_EQ(one->outcome, Outcome::beyond);
  EXPECT_EQ(one->x, 57);
  const auto none = solve(runs_to_57, 100, {.low = 58, .high = 4000, .whole = true});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error(), "58 does not fit");
  // The low end: a tier that is too small below 5.
  const auto large = solve(
      [](double x) -> Expected<double> {
        if (x < 5) return Unexpected(std::string("too small"));
        return x;
      },
      8, {.low = 1, .high = 100, .whole = true});
  EXPECT_EQ(large->x, 8);
  EXPECT_EQ(large->low, 5);
}

TEST(Solve, TheSameQuestionHasTheSameAnswer) {
  const SolveRange range{.low = 1, .high = 1000};
  EXPECT_EQ(solved(hyperbola, 5, range).x, solved(hyperbola, 5, range).x);
}

// Every range around a crossing has the same answer, to the last bit.
TEST(Solve, TheAnswerDoesNotDependOnTheRange) {
  for (const bool sampled : {false, true})
    for (double (*metric)(double) : {hyperbola, line, steps}) {
      const Solution one =
          solved(metric, 7.3, {.low = 1, .high = 1000, .whole = false, .sampled = sampled});
      ASSERT_EQ(one.outcome, Outcome::found);
      for (const double low : {0.3, 0.7, 1.9})
        for (const double high : {97.0, 130.0, 5e5})
          EXPECT_EQ(solved(metric, 7.3, {.low = low, .high = high, .sampled = sampled}).x, one.x)
              << low << " to " << high;
    }
}

// The next candidate beyond the answer is above the target: the answer is the best of its digits.
TEST(Solve, ASampledAnswerHasFourDigitsAndItsNeighbourMisses) {
  const Solution found = solved(hyperbola, 7.3, {.low = 1, .high = 1000, .sampled = true});
  EXPECT_EQ(found.x, 11.33);  // 60 / 5.3 = 11.3207...
  ASSERT_TRUE(found.next);
  EXPECT_EQ(found.next->x, 11.32);
  EXPECT_GT(found.next->metric, 7.3);
}

// Holds up to 5 and from 20 to 30.
double two_parts(double x) {
  return x <= 5 || (x >= 20 && x <= 30) ? 0 : x;
}

TEST(Solve, OfSeveralPartsTheFirstFromBelowIsGivenAndAllAreNamed) {
  const SolveRange range{.low = 1, .high = 100, .sampled = true};
  const auto largest = solve([](double x) -> Expected<double> { return two_parts(x); }, 1, range);
  ASSERT_TRUE(largest);
  EXPECT_EQ(largest->x, 5);
  EXPECT_FALSE(largest->monotone);
  EXPECT_EQ(largest->holding, (std::vector<std::array<double, 2>>{{1, 5}, {20, 25}}));
  const auto smallest =
      solve([](double x) -> Expected<double> { return x >= 50 || (x >= 8 && x < 12) ? 0 : 1; }, 0,
            range, false);
  ASSERT_TRUE(smallest);
  EXPECT_EQ(smallest->x, 50);
  EXPECT_EQ(smallest->next->x, 49.99);
}

// A goal that holds in the middle only, as a goodput does.
TEST(Solve, APartBetweenTheEndsIsFound) {
  const auto found =
      solve([](double x) -> Expected<double> { return x >= 6 && x < 40.005 ? -1 : 1; }, 0,
            {.low = 1, .high = 100, .sampled = true}, true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->outcome, Outcome::found);
  EXPECT_EQ(found->x, 40);
  const auto all = solve([](double) -> Expected<double> { return -1; }, 0,
                         {.low = 1, .high = 100, .sampled = true}, true);
  EXPECT_EQ(all->outcome, Outcome::beyond);
  EXPECT_EQ(all->x, 100);
  const auto none = solve([](double) -> Expected<double> { return 1; }, 0,
                          {.low = 1, .high = 100, .sampled = true}, true);
  EXPECT_EQ(none->outcome, Outcome::beyond);
  EXPECT_EQ(none->x, 1);
  EXPECT_TRUE(none->holding.empty());
}

std::string error_of(const std::string& low, const std::string& high, bool whole = false) {
  const auto range = SettingRange::parse("key", low, high, whole);
  return range ? "" : range.error();
}

TEST(SettingRange, TakesWhatYamlTakes) {
  const auto bandwidth = SettingRange::parse("a.b", "10 GB/s", "2 TB/s", false);
  ASSERT_TRUE(bandwidth);
  EXPECT_EQ(bandwidth->range().low, 10e9);
  EXPECT_EQ(bandwidth->option(64.5e9), "a.b=64.5 GB/s");
  EXPECT_EQ(bandwidth->display(64.4999e9), "64.5 GB/s");
  const auto factor = SettingRange::parse("f", "0.5", "64", false);
  EXPECT_EQ(factor->option(0.1), "f=0.1");
  const auto batch = SettingRange::parse("step.batch", "1", "64", true);
  EXPECT_EQ(batch->option(3), "step.batch=3");
  // Two picoseconds have no setting in between.
  EXPECT_EQ(SettingRange::parse("l", "1 ns", "2 us", false)->option(1500.4), "l=1.5 ns");
}

TEST(SettingRange, SaysWhatIsWrong) {
  EXPECT_NE(error_of("1", "2 GB/s").find("two quantities of one kind"), std::string::npos);
  EXPECT_NE(error_of("1 ns", "2 GB/s").find("two quantities of one kind"), std::string::npos);
  EXPECT_NE(error_of("many", "2").find("'many'"), std::string::npos);
  EXPECT_NE(error_of("2", "2").find("not below"), std::string::npos);
  EXPECT_NE(error_of("1.5", "2", true).find("not whole"), std::string::npos);
  EXPECT_NE(error_of("1 GB", "2 GB", true).find("have units"), std::string::npos);
  EXPECT_EQ(error_of("1", "2", true), "");
}

}  // namespace
}  // namespace tiersim::solve_test
