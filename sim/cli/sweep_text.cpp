#include "sim/cli/sweep_text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/render/table.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/progress.hpp"
#include "sim/sweep/search.hpp"
#include "sim/sweep/sweep_estimate.hpp"

namespace tiersim::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string labels_text(const std::vector<SpaceColumn>& columns, const SpacePoint& point) {
  std::string out;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (!point.labels[i].empty())
      out += fmt::format("{}{}={}", out.empty() ? "" : ", ", columns[i].name, point.labels[i]);
  return out;
}

// The first points of the shard.
std::vector<SpacePoint> first_points(const SweepPlan& plan, const Shard& shard) {
  constexpr std::size_t kShown = 5;
  std::vector<SpacePoint> out;
  if (plan.config().search) {
    out = Search(plan.space(), *plan.config().search, plan.objectives().directions()).next();
    out.resize(std::min(kShown, out.size()));
    return out;
  }
  plan.space().for_each([&](const SpacePoint& point) {
    if (shard.contains(point.position)) out.push_back(point);
    return out.size() < kShown;
  });
  return out;
}

Table columns_table(const SweepPlan& plan) {
  Table table{.title = "", .columns = {{"axis", Align::left}, {"setting", Align::left}}};
  for (const SpaceColumn& column : plan.space().columns())
    table.add({column.name, column.key.empty() ? "-" : column.key});
  return table;
}

}  // namespace

void summarise(SweepStore& store, const StoredSweep& sweep, SweepSummary& summary) {
  summary.name = sweep.name;
  summary.digest = sweep.digest;
  summary.columns = sweep.columns;
  summary.points = summary.outcome.progress.points;
  const SweepStore::Counts counts = store.counts(sweep.sweep, summary.shard);
  summary.ok = counts[static_cast<std::size_t>(PointStatus::ok)];
  summary.infeasible = counts[static_cast<std::size_t>(PointStatus::infeasible)];
  summary.failed = counts[static_cast<std::size_t>(PointStatus::error)];
  if (summary.failed > 0) summary.failure = store.first(sweep, PointStatus::error);
}

std::string to_text(const SweepSummary& s) {
  const SweepProgress& p = s.outcome.progress;
  std::string out =
      fmt::format("{}: {} of {} points", s.name, s.ok + s.infeasible + s.failed, s.points);
  if (s.shard.count > 1) out += fmt::format(" of shard {}/{}", s.shard.index, s.shard.count);
  out += fmt::format(": {} have results, {} do not fit, {} failed\n", s.ok, s.infeasible, s.failed);
  if (p.finished > p.before)
    out += fmt::format("{} were run in {} ({:.4g}/s), {} were there\n", p.finished - p.before,
                       rough_time(s.seconds),
                       static_cast<double>(p.finished - p.before) / s.seconds, p.before);
  else
    out += "none was left to run\n";
  out += fmt::format(
      "store  {}\nnext   tiersim report html {} -o page.html; also pareto, curves, "
      "bottleneck, io, footprint, sensitivity\n",
      s.store.string(), shell_word(s.store.string()));
  return out;
}

std::string to_json(const SweepSummary& s) {
  const Json out{{"sweep", s.name},
                 {"digest", s.digest},
                 {"store", s.store.string()},
                 {"shard", fmt::format("{}/{}", s.shard.index, s.shard.count)},
                 {"points", s.points},
                 {"ok", s.ok},
                 {"infeasible", s.infeasible},
                 {"failed", s.failed},
                 {"before", s.outcome.progress.before},
                 {"complete", s.outcome.complete}};
  return out.dump(2) + '\n';
}

std::string first_failure(const SweepSummary& s) {
  const StoredPoint& point = *s.failure;
  return fmt::format("point {} ({}): {}", point.point.position, labels_text(s.columns, point.point),
                     point.outcome.problem);
}

std::string dry_run_text(SweepPlan& plan, const SweepOptions& options, double planning, bool json) {
  const std::int64_t all =
      plan.config().search ? plan.config().search->budget : *plan.sweep().points;
  const std::int64_t points = options.shard.points(all);
  const std::vector<SpacePoint> first = first_points(plan, options.shard);
  const SweepEstimate estimate = estimate_sweep(plan, options, planning);
  if (json) {
    Json shown = Json::array();
    for (const SpacePoint& point : first)
      shown.push_back({{"scenario", point.scenario},
                       {"set", point.set},
                       {"labels", Json::parse(labels_json(plan.sweep().columns, point.labels))}});
    const Json out{{"sweep", plan.config().name},
                   {"points", points},
                   {"seconds_estimated", estimate.seconds},
                   {"points_timed", estimate.timed},
                   {"first", std::move(shown)}};
    return out.dump(2) + '\n';
  }
  std::string out = fmt::format("{}: {}{} points, about {} with {} threads\n", plan.config().name,
                                plan.config().search ? "up to " : "", points,
                                rough_time(estimate.seconds), options.threads);
  if (estimate.timed < points)
    out += fmt::format("of {} points that were timed; from their differences, +- {:.0f} %\n",
                       estimate.timed, 196 * estimate.error / estimate.seconds);
  out += '\n' + to_text(columns_table(plan)) + "\nfirst points\n";
  for (const SpacePoint& point : first)
    out += fmt::format("  {}\n", labels_text(plan.sweep().columns, point));
  return out;
}

}  // namespace tiersim::cli
