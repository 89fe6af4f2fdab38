#include "sim/cli/sweep_text.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/render/table.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/progress.hpp"
#include "sim/sweep/evaluate.hpp"

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

// Seconds a point, as the mean of a few points spread over the sweep.
double seconds_a_point(SweepPlan& plan, const std::vector<SpacePoint>& some) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kPatience(2);
  const auto began = Clock::now();
  std::size_t timed = 0;
  for (const SpacePoint& point : some) {
    if (Clock::now() - began > kPatience) break;
    Diagnostics diagnostics;  // for files of only some points of a search
    if (plan.prepare(point, diagnostics))
      evaluate(read_point(plan.loader(), point_of(point)), plan.config().reading,
               plan.config().keep);
    ++timed;
  }
  return std::chrono::duration<double>(Clock::now() - began).count() /
         static_cast<double>(std::max<std::size_t>(timed, 1));
}

// The first points of the shard, and some points spread over it.
struct Preview {
  std::vector<SpacePoint> first;
  std::vector<SpacePoint> spread;
};

Preview preview_of(const SweepPlan& plan, const Shard& shard, std::int64_t points) {
  constexpr std::size_t kShown = 5;
  constexpr std::int64_t kTimed = 16;
  Preview out;
  if (plan.config().search) {
    Search search(plan.space(), *plan.config().search, plan.objectives().directions());
    out.spread = search.next();
    out.first.assign(out.spread.begin(), out.spread.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                  kShown, out.spread.size())));
    return out;
  }
  const std::int64_t stride = std::max<std::int64_t>(1, points / kTimed);
  plan.space().for_each([&](const SpacePoint& point) {
    if (shard.contains(point.position) && out.first.size() < kShown) out.first.push_back(point);
    if (point.position % stride == stride / 2) out.spread.push_back(point);
    return true;
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
  summary.ok = store.count(sweep.sweep, PointStatus::ok, summary.shard);
  summary.infeasible = store.count(sweep.sweep, PointStatus::infeasible, summary.shard);
  summary.failed = store.count(sweep.sweep, PointStatus::error, summary.shard);
  summary.failure = store.first(sweep, PointStatus::error);
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

std::string dry_run_text(SweepPlan& plan, const SweepOptions& options, bool json) {
  const std::int64_t all =
      plan.config().search ? plan.config().search->budget : *plan.sweep().points;
  const std::int64_t points = options.shard.points(all);
  const Preview preview = preview_of(plan, options.shard, all);
  const double each = seconds_a_point(plan, preview.spread);
  const double seconds = each * static_cast<double>(points) / static_cast<double>(options.threads);
  if (json) {
    Json first = Json::array();
    for (const SpacePoint& point : preview.first)
      first.push_back({{"scenario", point.scenario},
                       {"set", point.set},
                       {"labels", Json::parse(labels_json(plan.sweep().columns, point.labels))}});
    const Json out{{"sweep", plan.config().name},
                   {"points", points},
                   {"seconds_estimated", seconds},
                   {"first", std::move(first)}};
    return out.dump(2) + '\n';
  }
  std::string out = fmt::format("{}: {}{} points, about {} with {} threads\n\n", plan.config().name,
                                plan.config().search ? "up to " : "", points, rough_time(seconds),
                                options.threads);
  out += to_text(columns_table(plan)) + "\nfirst points\n";
  for (const SpacePoint& point : preview.first)
    out += fmt::format("  {}\n", labels_text(plan.sweep().columns, point));
  return out;
}

}  // namespace tiersim::cli
