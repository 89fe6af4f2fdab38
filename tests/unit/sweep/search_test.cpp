#include "sim/sweep/search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/lattice_space.hpp"

namespace tiersim::search_test {
namespace {

using ::testing::ElementsAre;
using testing::LatticeSpace;

constexpr Sense kMin = Sense::minimize;
constexpr Sense kMax = Sense::maximize;

// Near one corner in the first objective, near the other in the second.
SearchResult corners(const SpacePoint& point) {
  Objectives values{0, 0};
  for (const double x : testing::coordinates(point)) {
    values[0] += x;
    values[1] += (7 - x) * (7 - x);
  }
  return {.values = values};
}

std::vector<SpacePoint> searched(const DesignSpace& space, const SweepSearch& settings,
                                 const std::function<SearchResult(const SpacePoint&)>& result,
                                 bool backwards = false) {
  Search search(space, settings, {kMin, kMin});
  std::vector<SpacePoint> all;
  while (!search.done()) {
    std::vector<SpacePoint> generation = search.next();
    all.insert(all.end(), generation.begin(), generation.end());
    if (backwards) std::ranges::reverse(generation);
    for (const SpacePoint& point : generation) search.tell(point.position, result(point));
  }
  EXPECT_TRUE(search.next().empty());
  return all;
}

std::set<std::vector<std::string>> places(const std::vector<SpacePoint>& points) {
  std::set<std::vector<std::string>> out;
  for (const SpacePoint& point : points) {
    std::vector<std::string> place = point.labels;
    place.push_back(point.scenario);
    out.insert(place);
  }
  return out;
}

TEST(Search, SpendsItsBudgetExactlyAndRunsNoPointTwice) {
  const LatticeSpace space({{8, 8, 8}});
  for (const std::int64_t budget : {1, 7, 20, 21, 100}) {
    const auto points = searched(space, {.budget = budget}, corners);
    ASSERT_EQ(points.size(), static_cast<std::size_t>(budget));
    EXPECT_EQ(places(points).size(), points.size());
    for (std::size_t i = 0; i < points.size(); ++i)
      EXPECT_EQ(points[i].position, static_cast<std::int64_t>(i));
  }
}

TEST(Search, EndsWhenEveryPlaceWasVisited) {
  const LatticeSpace space({{4, 5}, {3}},
                           [](std::size_t, const auto& place) { return place[0] != 1; });
  const auto points = searched(space, {.budget = 1000, .start = 3, .generation = 2}, corners);
  EXPECT_EQ(points.size(), 3U * 5 + 2);
  EXPECT_EQ(places(points).size(), points.size());
}

// One place of 40 000: found by the walk, not by luck.
TEST(Search, FindsTheOnlyPlaceThatAFilterLeaves) {
  const LatticeSpace space({{200, 200}}, [](std::size_t, const auto& place) {
    return place[0] == 123 && place[1] == 45;
  });
  const auto points = searched(space, {.budget = 10}, corners);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_THAT(points[0].labels, ElementsAre("123", "45"));
}

TEST(Search, HasNothingToDoInAnEmptySpace) {
  const LatticeSpace space({{5}}, [](std::size_t, const auto&) { return false; });
  EXPECT_TRUE(searched(space, {.budget = 10}, corners).empty());
}

TEST(Search, DependsOnTheSeedAndNotOnTheOrderOfResults) {
  const LatticeSpace space({{8, 8, 8}, {16, 4, 2}});
  const SweepSearch settings{.budget = 150, .seed = 3};
  const auto points = searched(space, settings, corners);
  EXPECT_EQ(points, searched(space, settings, corners, true));
  EXPECT_NE(points, searched(space, {.budget = 150, .seed = 4}, corners));
}

// Eight places on axes of eight: each value of each axis once.
TEST(Search, StartsWithALatinHypercube) {
  const LatticeSpace space({{8, 8, 8}});
  const auto points = searched(space, {.budget = 8, .start = 8}, corners);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::set<std::string> values;
    for (const SpacePoint& point : points) values.insert(point.labels[axis]);
    EXPECT_EQ(values.size(), 8U) << "axis " << axis;
  }
}

// 2 of 10 and 98 of 490: every grid has as many of the start.
TEST(Search, StartsInEveryGrid) {
  const LatticeSpace space({{7, 70}, {10, 1}});
  const auto points = searched(space, {.budget = 10, .start = 10}, corners);
  std::int64_t second = 0;
  for (const SpacePoint& point : points) second += point.scenario == "grid1" ? 1 : 0;
  EXPECT_EQ(second, 5);
}

TEST(Search, WhatFailsLeavesTheRestToBeFound) {
  const LatticeSpace space({{30, 30}});
  const auto result = [](const SpacePoint& point) {
    const auto x = testing::coordinates(point);
    return x[0] < 29 ? SearchResult{} : SearchResult{.values = {x[1], -x[1]}};
  };
  std::int64_t found = 0;
  for (const SpacePoint& point : searched(space, {.budget = 200}, result))
    found += result(point).values.empty() ? 0 : 1;
  // 200 random draws find 200 / 30 on average; a search by neighbours finds all.
  EXPECT_GE(found, 20);
}

TEST(SearchOrder, AcceptableFirstThenByViolationAndFailedLast) {
  const std::vector<SearchResult> results{
      {},                                     // failed
      {.values = {9, 9}},                     // dominated by the next
      {.values = {1, 1}},                     // best
      {.values = {0, 0}, .violation = 0.5},   // not acceptable
      {.values = {0, 0}, .violation = 0.25},  // less so
  };
  EXPECT_THAT(search_order(results, {kMin, kMin}), ElementsAre(2, 1, 4, 3, 0));
  EXPECT_THAT(search_order(results, {kMax, kMax}), ElementsAre(1, 2, 4, 3, 0));
}

TEST(SearchOrder, TheEndsOfAFrontComeBeforeItsMiddle) {
  const std::vector<SearchResult> results{
      {.values = {1, 3}}, {.values = {2, 2}}, {.values = {3, 1}}};
  EXPECT_THAT(search_order(results, {kMin, kMin}), ElementsAre(0, 2, 1));
}

}  // namespace
}  // namespace tiersim::search_test
