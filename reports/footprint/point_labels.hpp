#pragma once
// How tables over points say which point a row is of, and which point it is compared with.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "reports/points/point_table.hpp"
#include "reports/render/table.hpp"
#include "sim/base/expected.hpp"

namespace tiersim {

/// The columns of labels that a table needs: those in which points differ, or the first one.
class PointLabels {
 public:
  explicit PointLabels(const PointTable& table);

  /// To put before the columns of a table.
  std::vector<Column> columns() const;
  std::vector<std::string> cells(std::size_t point) const;
  /// "method Quest, context 8192": of every column in which points differ; the label alone where
  /// there is one column.
  std::string text(std::size_t point) const;

 private:
  const PointTable& table_;
  std::vector<std::size_t> shown_;
};

/// What points are compared with.
struct Baseline {
  std::string name = {};                                       ///< for titles and notes
  std::vector<std::shared_ptr<const RunRecord>> records = {};  ///< by point; null: with nothing
};
/// Each point is compared with the point that has `label` in the label's column and the same labels
/// in all others; else with the one such point whose settings are the same where both have one, as
/// of another sub-grid; where one point alone has the label, with that one. `text` is a label, or
/// "column=label" where several columns have it. The error says which labels there are.
Expected<Baseline> baseline_of_points(const PointTable& table, const std::string& text);

}  // namespace tiersim
