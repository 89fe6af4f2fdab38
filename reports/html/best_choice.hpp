#pragma once
// Which label of one axis is best for each combination of labels of others, by one metric. Over all
// further axes each competitor takes the point that suits it best.
#include <cstddef>
#include <optional>
#include <vector>

#include "reports/html/points_view.hpp"
#include "sim/base/number_class.hpp"

namespace tiersim {

/// One label of the axis, with its best point.
struct Competitor {
  std::size_t label = 0;  ///< index into the labels of the axis
  std::size_t point = 0;  ///< index into the points of the table
  double value = 0;
  std::optional<Interval<double>> ci95 = {};
  /// Its interval overlaps that of the best, or one of them has none and lies within the other's.
  bool equals_best = false;
};

/// The competitors at one combination of labels, the best first; empty where none has the metric.
struct BestOfCell {
  std::vector<std::size_t> labels = {};  ///< one for each column of `by`: indices of its labels
  std::vector<Competitor> competitors = {};
};

/// Cells in the order of the columns' labels, the last column fastest. Points that miss a
/// constraint of the sweep do not compete.
std::vector<BestOfCell> best_of(const PointTable& table, const PointsView& view,
                                const BestQuestion& question, std::size_t metric, bool maximize);

}  // namespace tiersim
