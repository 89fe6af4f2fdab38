#pragma once
// What reports are made of: points, each with its place on the axes and its record. From a store,
// from record files, or from configurations that were just run; reports do not know which.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// A column of the points: an axis, something derived, or the name of a configuration.
struct PointColumn {
  std::string name = {};
  std::string key = {};  ///< the setting, where it is one
  bool numeric = false;  ///< labels are numbers or quantities ("48 GB/s")
};

struct ReportPoint {
  std::int64_t position = 0;
  std::vector<std::string> labels = {};  ///< one a column; empty: not on that axis
  std::string run_id = {};
  std::string rerun = {};  ///< the command that runs it again
  /// Its results; of a store that keeps metrics alone, `metrics` is all that it has. Null where it
  /// cannot run or failed:
  std::shared_ptr<const RunRecord> record = {};
  std::string problem = {};  ///< why, in one line
  bool failed = false;       ///< a mistake or a fault, not something that does not fit
};

/// An objective as a metric's full name ("throughput_tokens_per_s") and its direction.
struct ReportObjective {
  std::string metric = {};
  bool maximize = false;
};

struct PointTable {
  std::string title = {};
  std::string source = {};  ///< file that it was read from
  std::vector<PointColumn> columns = {};
  std::vector<ReportPoint> points = {};  ///< by position
  std::int64_t missing = 0;              ///< of its sweeps, without a result yet
  /// Points of a sample or a search, so that those along an axis differ in the other axes as well.
  bool chosen = false;
  std::vector<ReportObjective> objectives = {};  ///< of the sweep; may be empty
  std::vector<std::string> constraints = {};     ///< as written
  std::vector<bool> feasible = {};  ///< by point: constraints hold; empty where there are none
};

}  // namespace tiersim
