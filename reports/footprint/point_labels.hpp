#pragma once
// Labels of points in tables, and the baseline that each point is compared with.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "reports/points/point_table.hpp"
#include "reports/render/table.hpp"
#include "sim/base/expected.hpp"

namespace tiersim {

/// The label columns that a table needs: those in which points differ, or the first one.
class PointLabels {
 public:
  explicit PointLabels(const PointTable& table);

  /// The columns to put before those of a table.
  std::vector<Column> columns() const;
  std::vector<std::string> cells(std::size_t point) const;
  Row row(std::size_t point) const;
  /// "method Quest, context 8192", with every column in which points differ. The label alone where
  /// there is one column.
  std::string text(std::size_t point) const;

 private:
  const PointTable& table_;
  std::vector<std::size_t> shown_;
};

/// The baseline of every point.
struct Baseline {
  std::string name = {};  ///< for titles and notes
  /// By point; null: compared with nothing
  std::vector<std::shared_ptr<const RunRecord>> records = {};
};
/// The baseline of a point has `label` in the label's column and the same labels in all others.
/// Where there is none, as in another sub-grid, it is the only point with `label` whose settings
/// are equal in all columns that both have. Where one point alone has the label, it is the baseline
/// of all points. `text` is a label, or "column=label" where several columns have it. The error
/// lists the labels.
Expected<Baseline> baseline_of_points(const PointTable& table, const std::string& text);

}  // namespace tiersim
