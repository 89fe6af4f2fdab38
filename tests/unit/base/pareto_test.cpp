#include "sim/base/pareto.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sim/base/rng.hpp"

namespace tiersim::pareto_test {
namespace {

using ::testing::ElementsAre;
using Points = std::vector<Objectives>;

constexpr Sense kMin = Sense::minimize;
constexpr Sense kMax = Sense::maximize;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Cheap and slow, expensive and fast, and two dominated points: (3, 3) by (2, 3) and (4, 4) by all.
const Points kFour{{1, 5}, {2, 3}, {3, 3}, {4, 1}, {4, 5}};

TEST(Pareto, TheFrontIsWhatNothingBeats) {
  EXPECT_THAT(pareto_front(kFour, {kMin, kMin}), ElementsAre(0, 1, 3));
  EXPECT_THAT(pareto_front(kFour, {kMax, kMax}), ElementsAre(4));
  EXPECT_THAT(pareto_front(kFour, {kMin, kMax}), ElementsAre(0));
  EXPECT_TRUE(pareto_front({}, {kMin, kMin}).empty());
}

TEST(Pareto, EqualPointsAreAllOnTheFrontOrNone) {
  EXPECT_THAT(pareto_front({{1, 2}, {1, 2}, {2, 1}, {2, 2}, {2, 2}}, {kMin, kMin}),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(pareto_front({{1, 2, 3}, {1, 2, 3}, {1, 2, 4}}, {kMin, kMin, kMin}),
              ElementsAre(0, 1));
  EXPECT_THAT(pareto_front({{7}, {5}, {5}}, {kMin}), ElementsAre(1, 2));
}

TEST(Pareto, APointWithoutAValueHasNoPlace) {
  const Points points{{kNan, 0}, {1, 1}, {0, std::numeric_limits<double>::infinity()}};
  EXPECT_THAT(pareto_front(points, {kMin, kMin}), ElementsAre(1));
  EXPECT_THAT(pareto_front(points, {kMin, kMax}), ElementsAre(1));
  const auto ranks = pareto_ranks(points, {kMin, kMin});
  EXPECT_FALSE(ranks[0].has_value());
  EXPECT_EQ(ranks[1], 0U);
}

TEST(Pareto, RanksArePeeledFronts) {
  const auto ranks = pareto_ranks({{1, 1}, {2, 2}, {3, 3}, {1, 3}, {2, 2}}, {kMin, kMin});
  EXPECT_THAT(ranks, ElementsAre(0U, 1U, 2U, 1U, 1U));
}

// Of (0, 3), (1, 1), (3, 0): the middle one's neighbours span both ranges whole.
TEST(Pareto, CrowdingIsTheWayBetweenTheNeighbours) {
  const auto crowding = crowding_distances({{0, 3}, {1, 1}, {3, 0}});
  EXPECT_TRUE(std::isinf(crowding[0]));
  EXPECT_EQ(crowding[1], 2.0);
  EXPECT_TRUE(std::isinf(crowding[2]));
}

// 3 x 1 for (1, 3) below (4, 4), and (2, 1) adds 2 x 2.
TEST(Pareto, HypervolumeOfTwoIsAStaircase) {
  EXPECT_EQ(hypervolume({{1, 3}, {2, 1}, {3, 3}}, {4, 4}, {kMin, kMin}), 3 + 4);
  EXPECT_EQ(hypervolume({{1, 3}, {5, 0}}, {4, 4}, {kMin, kMin}), 3);
  EXPECT_EQ(hypervolume({{3, 1}, {1, 2}}, {0, 0}, {kMax, kMax}), 3 + 1);
  EXPECT_EQ(hypervolume({}, {4, 4}, {kMin, kMin}), 0);
}

// Two boxes 2 x 2 x 1 and 1 x 1 x 2 from the corner (2, 2, 2), which share 1 x 1 x 1.
TEST(Pareto, HypervolumeOfThreeCountsWhatIsSharedOnce) {
  EXPECT_EQ(hypervolume({{0, 0, 1}, {1, 1, 0}}, {2, 2, 2}, {kMin, kMin, kMin}), 4 + 2 - 1);
}

TEST(Pareto, TheKneeIsNearestToTheBestOfBoth) {
  EXPECT_EQ(knee_point(kFour, {kMin, kMin}), 1U);  // (1/3, 1/2) away
  EXPECT_EQ(knee_point({{0, 1}, {1, 0}}, {kMin, kMin}), 0U);
  EXPECT_EQ(knee_point({}, {kMin}), std::nullopt);
  EXPECT_EQ(knee_point({{5, 5}}, {kMin, kMax}), 0U);
}

// Few values, so that ties are frequent.
Points random_points(Rng& rng, std::size_t count, std::size_t objectives) {
  Points out(count, Objectives(objectives));
  for (Objectives& point : out)
    for (double& value : point) value = static_cast<double>(rng.below(12));
  return out;
}

Senses random_directions(Rng& rng, std::size_t objectives) {
  Senses out;
  for (std::size_t k = 0; k < objectives; ++k) out.push_back(rng.below(2) == 0 ? kMin : kMax);
  return out;
}

// The definition of dominance (pareto.hpp), of finite points.
bool dominates(const Objectives& a, const Objectives& b, const Senses& directions) {
  bool better = false;
  for (std::size_t k = 0; k < directions.size(); ++k) {
    const double gain = directions[k] == kMin ? b[k] - a[k] : a[k] - b[k];
    if (gain < 0) return false;
    better = better || gain > 0;
  }
  return better;
}

TEST(Pareto, FrontAndRanksAreThoseOfComparingAllPairs) {
  Rng rng(7, "pareto");
  for (int round = 0; round < 300; ++round) {
    const std::size_t objectives = 1 + rng.below(4);
    const Points points = random_points(rng, rng.below(60), objectives);
    const Senses directions = random_directions(rng, objectives);
    const auto ranks = pareto_ranks(points, directions);
    std::vector<std::size_t> front;
    for (std::size_t i = 0; i < points.size(); ++i) {
      // One more than the highest rank among those that dominate it.
      std::size_t rank = 0;
      for (std::size_t j = 0; j < points.size(); ++j)
        if (dominates(points[j], points[i], directions)) rank = std::max(rank, *ranks[j] + 1);
      EXPECT_EQ(ranks[i], rank) << "round " << round << ", point " << i;
      if (rank == 0) front.push_back(i);
    }
    EXPECT_EQ(pareto_front(points, directions), front) << "round " << round;
  }
}

// On whole numbers the volume is a count of unit cells: those with a corner that some point is not
// worse than.
TEST(Pareto, HypervolumeIsTheNumberOfDominatedCells) {
  Rng rng(8, "pareto");
  for (int round = 0; round < 60; ++round) {
    const std::size_t objectives = 2 + rng.below(3);
    const Points points = random_points(rng, 1 + rng.below(12), objectives);
    const Objectives reference(objectives, 10);
    const Senses directions(objectives, kMin);
    std::size_t cells = 1;
    for (std::size_t k = 0; k < objectives; ++k) cells *= 10;
    double count = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      bool covered = false;
      for (const Objectives& point : points) {
        bool below = true;
        for (std::size_t k = 0, rest = cell; k < objectives; ++k, rest /= 10)
          below = below && point[k] <= static_cast<double>(rest % 10);
        covered = covered || below;
      }
      count += covered ? 1 : 0;
    }
    EXPECT_EQ(hypervolume(points, reference, directions), count) << "round " << round;
  }
}

}  // namespace
}  // namespace tiersim::pareto_test
