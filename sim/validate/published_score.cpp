#include "sim/validate/published_score.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

std::optional<double> simulated(const RunRecord& record, PublishedMetric metric) {
  const auto found = record.metrics.find(std::string(record_metric(metric)));
  return found == record.metrics.end() ? std::nullopt : std::optional(found->second.value);
}

// The nearest-rank percentile of sorted values.
double nearest_rank(const std::vector<double>& sorted, std::size_t percent) {
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

PublishedOutcome score(const PublishedRuns& runs, const PublishedGroup& group,
                       const PublishedRun& run, const RunRecord& record) {
  PublishedOutcome out{.group = &group, .run = &run};
  for (const PublishedMetric metric : kPublishedMetrics) {
    const auto reference = run.published.value(metric);
    if (!reference) continue;
    const auto predicted = simulated(record, metric);
    const std::string_view name = name_of(metric);
    if (!predicted) {
      out.cases.clear();
      out.problem = "has no " + std::string(name) + ": no request that counts has one";
      return out;
    }
    const double error = (*predicted - *reference) / *reference;
    const double aim = runs.aims.value(metric);
    const Metric& metric_of_record = record.metrics.at(std::string(record_metric(metric)));
    const auto ci95 = record.draws ? metric_of_record.ci95 : std::nullopt;
    out.cases.push_back({.id = group.id + "." + run.id + "." + std::string(name),
                         .metric = metric,
                         .predicted = *predicted,
                         .reference = *reference,
                         .error = error,
                         .aim = aim,
                         .close = std::abs(error) <= aim,
                         .ci95 = ci95,
                         .covered = ci95 && ci95->low <= *reference && *reference <= ci95->high});
  }
  if (group.wall) {
    TS_EXPECTS(run.users && record.serving);
    out.wall = {.users = *run.users,
                .positions = record.serving->capacity.positions,
                .fitting = record.serving->capacity.max_sequences_full_length,
                .ttft = simulated(record, PublishedMetric::ttft),
                .tpot = simulated(record, PublishedMetric::tpot),
                .throughput = simulated(record, PublishedMetric::throughput).value_or(0)};
  }
  return out;
}

PublishedErrors errors_of(const std::vector<PublishedOutcome>& outcomes, PublishedMetric metric,
                          const PublishedGroup* group) {
  return errors_of(outcomes, metric, [group](const PublishedOutcome& outcome) {
    return group == nullptr ? outcome.group->counted : outcome.group == group;
  });
}

PublishedErrors errors_of(const std::vector<PublishedOutcome>& outcomes, PublishedMetric metric,
                          const OutcomeFilter& filter) {
  PublishedErrors out;
  std::vector<double> magnitudes;
  double sum = 0;
  for (const PublishedOutcome& outcome : outcomes) {
    if (!filter(outcome)) continue;
    for (const PublishedCase& each : outcome.cases) {
      if (each.metric != metric) continue;
      const double magnitude = std::abs(each.error);
      magnitudes.push_back(magnitude);
      sum += each.error;
      out.close += each.close ? 1 : 0;
      out.drawn += each.ci95 ? 1 : 0;
      out.covered += each.covered ? 1 : 0;
      if (out.worst_case.empty() || magnitude > out.worst) {
        out.worst = magnitude;
        out.worst_case = each.id;
      }
    }
  }
  if (magnitudes.empty()) return out;
  std::ranges::sort(magnitudes);
  out.count = static_cast<std::int64_t>(magnitudes.size());
  out.signed_mean = sum / static_cast<double>(out.count);
  // For an even number the mean of the middle two, so that at least half of the errors are not
  // larger.
  const std::size_t middle = magnitudes.size() / 2;
  out.median = (magnitudes[(magnitudes.size() - 1) / 2] + magnitudes[middle]) / 2;
  out.p90 = nearest_rank(magnitudes, 90);
  return out;
}

}  // namespace tiersim
