#pragma once
// Simulated runs of servers beside their published results: an error for every printed value, and
// the size of the errors by metric.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/record/run_record.hpp"
#include "sim/validate/published_runs.hpp"

namespace tiersim {

/// One printed value and the simulated one.
struct PublishedCase {
  std::string id;  ///< "group.run.metric"
  PublishedMetric metric = PublishedMetric::tpot;
  double predicted = 0;  ///< in unit_of(metric), like the reference
  double reference = 0;
  double error = 0;                           ///< (predicted - reference) / reference
  double aim = 0;                             ///< desired limit of the error's magnitude
  bool close = false;                         ///< true where the error is below it
  std::optional<Interval<double>> ci95 = {};  ///< of `predicted`, if it was drawn
  bool covered = false;                       ///< true where the reference lies in it
};

/// The capacity limit in one run of a group that shows it.
struct WallPoint {
  std::int64_t users = 0;
  std::int64_t positions = 0;       ///< capacity of the pool
  std::int64_t fitting = 0;         ///< sequences of full length that fit in it
  std::optional<double> ttft = {};  ///< s
  std::optional<double> tpot = {};  ///< s
  double throughput = 0;            ///< tokens/s
};

struct PublishedOutcome {
  const PublishedGroup* group = nullptr;
  const PublishedRun* run = nullptr;
  std::vector<PublishedCase> cases = {};
  std::optional<WallPoint> wall = {};
  std::string problem = {};  ///< reason why it could not run; empty if it did
};

/// Compares a record with the run's published values; both must outlive the outcome.
PublishedOutcome score(const PublishedRuns& runs, const PublishedGroup& group,
                       const PublishedRun& run, const RunRecord& record);

/// Magnitudes of errors, over all counted values, over those of a group, or over those that pass a
/// filter.
struct PublishedErrors {
  std::int64_t count = 0;
  std::int64_t close = 0;
  std::int64_t drawn = 0;    ///< cases with intervals
  std::int64_t covered = 0;  ///< of these, with the reference inside
  double signed_mean = 0;
  double median = 0;
  double p90 = 0;  ///< nearest rank
  double worst = 0;
  std::string worst_case = {};
};
using OutcomeFilter = std::function<bool(const PublishedOutcome&)>;
PublishedErrors errors_of(const std::vector<PublishedOutcome>& outcomes, PublishedMetric metric,
                          const OutcomeFilter& filter);
PublishedErrors errors_of(const std::vector<PublishedOutcome>& outcomes, PublishedMetric metric,
                          const PublishedGroup* group = nullptr);

}  // namespace tiersim
