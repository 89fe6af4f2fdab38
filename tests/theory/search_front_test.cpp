// The share of a front that the search finds, against as many random points.
//
// The claim: the median hypervolume of 20 seeds is above the best of 20 seeds of random search. If
// both came from one distribution, the ten highest of forty would all be the search's: C(20, 10) /
// C(40, 10) = 2e-4.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/sweep/search.hpp"
#include "tests/support/lattice_space.hpp"

namespace tiersim::search_front_test {
namespace {

using testing::LatticeSpace;

constexpr int kSeeds = 20;
const Senses kBoth{Sense::minimize, Sense::minimize};

// Functions of Zitzler, Deb and Thiele (Evolutionary Computation 8(2), 2000): x_i in [0, 1], and
// the front is at g = 1, where all x_i but the first are 0.
struct Case {
  const char* name;
  double (*shape)(double f1, double g);
};
double convex(double f1, double g) {
  return g * (1 - std::sqrt(f1 / g));
}
double concave(double f1, double g) {
  return g * (1 - f1 / g * (f1 / g));
}
double broken(double f1, double g) {
  return g * (1 - std::sqrt(f1 / g) - f1 / g * std::sin(10 * 3.14159265358979 * f1));
}
constexpr Case kCases[]{{"ZDT1", convex}, {"ZDT2", concave}, {"ZDT3", broken}};
constexpr std::int64_t kSide = 20;  // of the lattice, in three dimensions

Objectives value_of(const Case& c, const SpacePoint& point) {
  const std::vector<double> at = testing::coordinates(point);
  const double f1 = at[0] / (kSide - 1);
  double sum = 0;
  for (std::size_t i = 1; i < at.size(); ++i) sum += at[i] / (kSide - 1);
  return {f1, c.shape(f1, 1 + 9 * sum / static_cast<double>(at.size() - 1))};
}

double volume(const std::vector<Objectives>& points) {
  return hypervolume(points, {1.1, 10}, kBoth);
}

double searched(const Case& c, const DesignSpace& space, const SweepSearch& settings) {
  Search search(space, settings, kBoth);
  std::vector<Objectives> points;
  while (!search.done())
    for (const SpacePoint& point : search.next()) {
      points.push_back(value_of(c, point));
      search.tell(point.position, {.values = points.back()});
    }
  return volume(points);
}

// All points are drawn before the search: a Latin hypercube would not be independent draws.
double drawn(const Case& c, const DesignSpace& space, const SweepSearch& settings) {
  SearchLattice lattice(space);
  Rng rng(static_cast<std::uint64_t>(settings.seed), "random");
  std::vector<Objectives> points;
  for (std::int64_t i = 0; i < settings.budget; ++i)
    points.push_back(value_of(c, lattice.visit_any(rng)->second));
  return volume(points);
}

double best_possible(const Case& c, const DesignSpace& space) {
  std::vector<Objectives> points;
  EXPECT_FALSE(space.for_each([&](const SpacePoint& point) {
    points.push_back(value_of(c, point));
    return true;
  }));
  return volume(points);
}

class SearchFront : public ::testing::TestWithParam<Case> {};

// At a hundredth of the points, and at a tenth, where the search has the front itself.
TEST_P(SearchFront, FindsMoreThanDrawsOfAsManyPoints) {
  const LatticeSpace space({{kSide, kSide, kSide}});
  const double all = best_possible(GetParam(), space);
  for (const std::int64_t budget : {80, 800}) {
    std::vector<double> search;
    std::vector<double> random;
    for (int seed = 1; seed <= kSeeds; ++seed) {
      const SweepSearch settings{.budget = budget, .seed = seed};
      search.push_back(searched(GetParam(), space, settings) / all);
      random.push_back(drawn(GetParam(), space, settings) / all);
    }
    std::ranges::sort(search);
    std::ranges::sort(random);
    const double median = (search[kSeeds / 2 - 1] + search[kSeeds / 2]) / 2;
    RecordProperty("search_" + std::to_string(budget), std::to_string(median));
    RecordProperty("random_" + std::to_string(budget), std::to_string(random[kSeeds / 2]));
    EXPECT_GT(median, random.back()) << budget << " points";
    EXPECT_LE(search.back(), 1 + 1e-12);
    if (budget == 800) {
      EXPECT_GT(median, 0.999);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Zdt, SearchFront, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace tiersim::search_front_test
