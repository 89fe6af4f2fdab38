#pragma once
// The input of reports: points, each with its labels on the axes and its record. They come from a
// store, from record files, or from configurations that were just run; reports do not depend on
// which.
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/record/break_even_record.hpp"
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
  /// The answer to the sweep's question of break-even, which `record` has as metrics, too, where a
  /// value was found.
  std::optional<BreakEvenRecord> answer = {};
  std::string problem = {};  ///< the reason in one line; empty where the point ran
  bool failed = false;       ///< a mistake or a fault; false for a point that does not fit
};

/// An objective as a metric's full name ("throughput_tokens_per_s") and its direction.
struct ReportObjective {
  std::string metric = {};
  bool maximize = false;
};

/// A value to hold a metric against, which figures draw as a dashed line.
struct MetricLimit {
  std::string metric = {};  ///< full name; "ttft_s" is that of every statistic, "ttft_s.p99" of one
  double value = 0;         ///< in the unit of the metric
  std::string name = {};    ///< "SLO", "limit"
  std::string source = {};  ///< who states it: "slo_ttft of the server"

  bool is_of(const std::string& full_name) const {
    return full_name == metric || full_name.starts_with(metric + '.');
  }
};

/// The comparison of all points by some objectives, where a table has a part of them.
struct WholeComparison {
  std::vector<ReportObjective> objectives = {};
  std::int64_t compared = 0;
  std::int64_t unacceptable = 0;  ///< break a constraint
  // points that are not compared, by reason
  std::int64_t failed = 0;
  std::int64_t unfit = 0;
  std::int64_t valueless = 0;
  std::vector<double> worst = {};  ///< of each objective, over the compared points
  std::vector<bool> differ = {};   ///< by column: compared points have different labels
};

/// Counts of all points where a table has a part of them.
struct WholePoints {
  std::int64_t points = 0;
  std::int64_t with_results = 0;
  std::int64_t failed = 0;
  std::int64_t feasible = 0;  ///< meet all constraints, where there are any
  /// Where the objectives of the table were known before the part was chosen.
  std::optional<WholeComparison> comparison = {};
  std::int64_t compared = 0;             ///< candidates for the front
  std::vector<std::size_t> labels = {};  ///< distinct ones by column; 0: too many to count
  std::string chosen_by = {};            ///< how the part was chosen: "every 100th point; ..."
};

/// The question of break-even of a sweep, as its SPEC asks it.
struct BreakEvenText {
  std::string key = {};
  std::string metric = {};  ///< full name
  bool maximize = true;
};

/// The table of the best, as the SPEC asks for it: columns by their indices.
struct BestQuestion {
  std::size_t best = 0;              ///< whose labels compete
  std::vector<std::size_t> by = {};  ///< for each combination of whose labels there is a best
};

struct PointTable {
  std::string title = {};
  std::string source = {};  ///< file that it was read from
  std::vector<PointColumn> columns = {};
  std::vector<ReportPoint> points = {};  ///< by position
  std::int64_t missing = 0;              ///< points of its sweeps without a result yet
  /// Set where `points` are a part; `chosen_by` says which.
  std::optional<WholePoints> whole = {};
  /// Metrics that records had and do not hold, because the report does not need them.
  std::set<std::string> left_out = {};
  /// True for points of a sample or a search. Those along one axis then differ in the others as
  /// well.
  bool chosen = false;
  std::vector<ReportObjective> objectives = {};  ///< of the sweep; may be empty
  std::vector<std::string> constraints = {};     ///< as written
  std::optional<BreakEvenText> break_even = {};  ///< of the sweep
  std::optional<BestQuestion> summary = {};      ///< of the sweep, with at least one objective
  std::vector<MetricLimit> limits = {};          ///< of servers and of the constraints
  std::vector<bool> feasible = {};  ///< by point: meets all constraints; empty where there are none
};

}  // namespace tiersim
