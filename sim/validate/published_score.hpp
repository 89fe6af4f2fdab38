#pragma once
// Simulated runs of servers beside what was published of them: an error for every printed value,
// and how large the errors are by metric.
#include <optional>
#include <string>
#include <vector>

#include "sim/record/run_record.hpp"
#include "sim/validate/published_runs.hpp"

namespace tiersim {

/// One printed value and what was simulated.
struct PublishedCase {
  std::string id;  ///< "group.run.metric"
  PublishedMetric metric = PublishedMetric::tpot;
  double predicted = 0;  ///< in unit_of(metric), as the reference
  double reference = 0;
  double error = 0;    ///< (predicted - reference) / reference
  double aim = 0;      ///< that its magnitude should stay below
  bool close = false;  ///< whether it does
};

/// A run of a group that shows the wall: what it says of capacity.
struct WallPoint {
  std::int64_t users = 0;
  std::int64_t positions = 0;       ///< that the pool has room for
  std::int64_t fitting = 0;         ///< sequences of full length among them
  std::optional<double> ttft = {};  ///< s
  std::optional<double> tpot = {};  ///< s
  double throughput = 0;            ///< tokens/s
};

struct PublishedOutcome {
  const PublishedGroup* group = nullptr;
  const PublishedRun* run = nullptr;
  std::vector<PublishedCase> cases = {};
  std::optional<WallPoint> wall = {};
  std::string problem = {};  ///< why it could not run; empty where it did
};

/// Compares a record with what was published of the run; both must outlive the outcome.
PublishedOutcome score(const PublishedRuns& runs, const PublishedGroup& group,
                       const PublishedRun& run, const RunRecord& record);

/// Magnitudes of errors, over all values that are counted or those of a group.
struct PublishedErrors {
  std::int64_t count = 0;
  std::int64_t close = 0;
  double signed_mean = 0;
  double median = 0;
  double p90 = 0;  ///< nearest rank
  double worst = 0;
  std::string worst_case = {};
};
PublishedErrors errors_of(const std::vector<PublishedOutcome>& outcomes, PublishedMetric metric,
                          const PublishedGroup* group = nullptr);

}  // namespace tiersim
