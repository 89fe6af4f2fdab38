#include "sim/study/point_means.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sim/base/student_t.hpp"
#include "sim/core/stats.hpp"
#include "sim/runner/failure.hpp"
#include "sim/study/solve_run.hpp"

namespace tiersim {

PointMeans::PointMeans(PointRunner& runner, Point point, std::int64_t seeds)
    : runner_(runner), point_(std::move(point)) {
  const Runnable config = runner_.config(point_);
  const auto* server = std::get_if<ServingConfig>(&config);
  of_server_ = server != nullptr;
  if (seeds > 1 && server == nullptr)
    throw Failure(
        ExitCode::usage,
        "tiersim: error: --seeds: is of a server; nothing in a step is drawn from a seed");
  if (seeds == 1) seeds_.emplace_back();
  for (std::int64_t i = 0; seeds > 1 && i < seeds; ++i)
    seeds_.push_back(fmt::format("seed={}", server->seed + i));
}

Expected<std::vector<PointResult>> PointMeans::run(const std::string& option) {
  std::vector<PointResult> out;
  for (const std::string& seed : seeds_) {
    Point there = point_;
    if (!seed.empty()) there.set.push_back(seed);
    there.set.push_back(option);
    PointResult result = run_point(runner_, there);
    if (!result.record) return Unexpected(fmt::format("at {}: {}", option, result.problem));
    out.push_back(std::move(result));
  }
  return out;
}

SeedMean PointMeans::mean(const std::vector<PointResult>& results,
                          const std::string& metric) const {
  Tally tally;
  SeedMean out;
  for (const PointResult& result : results) {
    tally.add(metric_of(*result.record, metric, point_));
    const Metric& one = result.record->metrics.at(metric);
    out.unit = one.unit;
    if (results.size() == 1) out.ci95 = one.ci95;
  }
  out.mean = results.size() == 1 ? results.front().record->metrics.at(metric).value : tally.mean();
  if (results.size() < 2) return out;
  const double half = student_t_975(tally.count() - 1) * tally.stddev() /
                      std::sqrt(static_cast<double>(tally.count()));
  out.ci95 = {tally.mean() - half, tally.mean() + half};
  return out;
}

}  // namespace tiersim
