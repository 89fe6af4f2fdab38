#pragma once
// The input of reports: points, each with its labels on the axes and its record. They come from a
// store, from record files, or from configurations that were just run; reports do not depend on
// which.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// A column of the points: an axis, a derived value, or the name of a configuration.
struct PointColumn {
  std::string name = {};
  std::string key = {};  ///< the setting; empty where the column is none
  bool numeric = false;  ///< labels are numbers or quantities ("48 GB/s")
};

struct ReportPoint {
  std::int64_t position = 0;
  /// One for each column; empty: the point is not on that axis
  std::vector<std::string> labels = {};
  std::string run_id = {};
  std::string rerun = {};  ///< the command that runs it again
  /// Results; `metrics` alone from a store that keeps no more. Null where the point failed or
  /// cannot run.
  std::shared_ptr<const RunRecord> record = {};
  std::string problem = {};  ///< the reason in one line; empty where the point ran
  bool failed = false;       ///< a mistake or a fault; false for a point that does not fit
};

/// An objective as a metric's full name ("throughput_tokens_per_s") and its direction.
struct ReportObjective {
  std::string metric = {};
  bool maximize = false;
};

/// Counts of all points where a table has a part of them.
struct WholePoints {
  std::int64_t points = 0;
  std::int64_t with_results = 0;
  std::int64_t failed = 0;
  std::int64_t feasible = 0;             ///< meet all constraints, where there are any
  std::int64_t compared = 0;             ///< candidates for the front
  std::vector<std::size_t> labels = {};  ///< distinct ones by column; 0: too many to count
  std::string chosen_by = {};            ///< how the part was chosen: "every 100th point; ..."
};

struct PointTable {
  std::string title = {};
  std::string source = {};  ///< file that it was read from
  std::vector<PointColumn> columns = {};
  std::vector<ReportPoint> points = {};  ///< by position
  std::int64_t missing = 0;              ///< points of its sweeps without a result yet
  /// Set where `points` are a part. It holds the whole front of `objectives`, and of each metric
  /// and numeric column a point with the least and one with the most.
  std::optional<WholePoints> whole = {};
  /// True for points of a sample or a search. Those along one axis then differ in the others as
  /// well.
  bool chosen = false;
  std::vector<ReportObjective> objectives = {};  ///< of the sweep; may be empty
  std::vector<std::string> constraints = {};     ///< as written
  std::vector<bool> feasible = {};  ///< by point: meets all constraints; empty where there are none
};

}  // namespace tiersim
