// The estimate of a dry run: the points that it rests on stand for all, whatever the axes are, and
// their times add up. No clock is used here, so that no test depends on the machine.
#include "sim/sweep/sweep_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace tiersim::sweep_estimate_test {
namespace {

TEST(PilotPlaces, AreDifferentAndInRangeAndAllOfASmallSweep) {
  for (const std::int64_t points : {0, 1, 15, 16, 17, 80, 138, 1000, 5456, 6000, 1'000'000}) {
    std::set<std::int64_t> seen;
    std::size_t all = 0;
    for (const auto& batch : pilot_places(points)) {
      EXPECT_TRUE(std::is_sorted(batch.begin(), batch.end()));
      seen.insert(batch.begin(), batch.end());
      all += batch.size();
    }
    EXPECT_EQ(seen.size(), all) << points;
    EXPECT_TRUE(seen.empty() || (*seen.begin() >= 0 && *seen.rbegin() < points)) << points;
    EXPECT_TRUE(points > 80 || std::cmp_equal(all, points)) << points;
  }
}

// The mean cost of a batch against that of the whole product of axes.
double ratio(std::int64_t contexts, std::int64_t batches, std::size_t batch,
             const std::function<double(double, double)>& cost) {
  const std::int64_t points = contexts * batches;
  const auto at = [&](std::int64_t place) {
    return cost(static_cast<double>(place / batches) / static_cast<double>(contexts),
                static_cast<double>(place % batches) / static_cast<double>(batches));
  };
  double whole = 0;
  for (std::int64_t place = 0; place < points; ++place) whole += at(place);
  const auto chosen = pilot_places(points).at(batch);
  double sum = 0;
  for (const std::int64_t place : chosen) sum += at(place);
  return sum / static_cast<double>(chosen.size()) / (whole / static_cast<double>(points));
}

// With steps of a fraction of the points, as 16 of 16 x 64 places, all points would have the same
// value of the inner axis: of these costs the estimate would be 0.2 or 2.4 times the truth. The
// goal of the estimate is 30 %.
TEST(PilotPlaces, MeetAllValuesOfEveryAxisWhateverItsLength) {
  const auto analytic = [](double, double) { return 1.0; };
  const auto engine = [](double context, double batch) { return 1 + 8 * context * batch; };
  const auto inner = [](double, double batch) { return batch < 0.5 ? 0.2 : 1.8; };
  const auto serving = [](double, double load) {
    return 1 / (1.05 - load);
  };  // grows at saturation
  for (const auto& [contexts, batches] : {std::pair<std::int64_t, std::int64_t>{64, 16},
                                          {50, 40},
                                          {100, 100},
                                          {1000, 1000},
                                          {7, 512}}) {
    SCOPED_TRACE(contexts);
    EXPECT_NEAR(ratio(contexts, batches, 1, analytic), 1, 1e-12);
    EXPECT_NEAR(ratio(contexts, batches, 1, engine), 1, 0.3);
    EXPECT_NEAR(ratio(contexts, batches, 1, inner), 1, 0.3);
    EXPECT_NEAR(ratio(contexts, batches, 1, serving), 1, 0.3);
    EXPECT_NEAR(ratio(contexts, batches, 2, engine), 1, 0.1);
  }
}

TEST(EstimateOf, FewSlowPointsCountByTheirOwnTimesOnAllThreads) {
  // Six points of 2 s and six of 4 s on two threads, whose last second one of them idles.
  PilotBatch batch{.seconds = std::vector<double>(6, 2.0), .wall = 19};
  batch.seconds.insert(batch.seconds.end(), 6, 4.0);
  const SweepEstimate estimate = estimate_of({batch}, 100, 2);
  EXPECT_DOUBLE_EQ(estimate.seconds, 100 * 3.0 / 2);
  EXPECT_EQ(estimate.timed, 12);
  // Standard deviation sqrt(12 / 11) of 12 of 100 points.
  EXPECT_NEAR(estimate.error, 50 * std::sqrt(12.0 / 11 / 12) * std::sqrt(0.88), 1e-9);
}

TEST(EstimateOf, ManyFastPointsCountByTheWallTimeOfTheirBatches) {
  const PilotBatch first{.seconds = std::vector<double>(16, 0.05), .wall = 0.5};  // reads the files
  const PilotBatch second{.seconds = std::vector<double>(64, 1e-4), .wall = 0.008};
  const double each = 0.008 / 64;
  EXPECT_DOUBLE_EQ(estimate_of({first, second}, 1000, 2).seconds, 1000 * each + 0.5 - 16 * each);
  EXPECT_EQ(estimate_of({}, 1000, 2).timed, 0);
}

TEST(EstimateOf, ReadingTheFilesCountsOnceAlsoWhereFewPointsAreTimed) {
  const PilotBatch first{.seconds = std::vector<double>(16, 3.0), .wall = 30};
  const PilotBatch second{.seconds = std::vector<double>(4, 2.0), .wall = 9};
  // Two seconds a point on two threads; the first batch took half a second more for each of its 16.
  EXPECT_DOUBLE_EQ(estimate_of({first, second}, 100, 2).seconds, 100 + 16 * 0.5);
  const PilotBatch faster{.seconds = std::vector<double>(16, 1.0), .wall = 8};
  EXPECT_DOUBLE_EQ(estimate_of({faster, second}, 100, 2).seconds, 100);
}

}  // namespace
}  // namespace tiersim::sweep_estimate_test
