#include "reports/pareto/pareto_report.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "reports/footprint/point_labels.hpp"
#include "sim/base/check.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

std::vector<const Metric*> metrics_of(const ParetoObjective& objective,
                                      const std::vector<std::size_t>& points) {
  std::vector<const Metric*> out;
  for (const std::size_t i : points)
    if (objective.values[i]) out.push_back(&*objective.values[i]);
  return out;
}

// "throughput_tokens_per_s, max (tokens/s, specification)". Times and sizes carry their own units
// where people read them.
Column column_of(const ParetoObjective& objective, const std::vector<std::size_t>& points) {
  const std::string of_class = class_text(metrics_of(objective, points));
  const auto heading = [&](bool stated) {
    return fmt::format("{}, {} ({}{})", objective.name,
                       objective.sense == Sense::maximize ? "max" : "min",
                       stated ? objective.unit + ", " : "", of_class);
  };
  const bool has_unit = objective.unit != "1";
  return {.title = heading(has_unit && objective.unit.find("/s") != std::string::npos),
          .key = objective.name,
          .csv = heading(has_unit),
          .unit = objective.unit};
}

// Share of the box from `worst` to best that the front dominates.
double volume_share(const std::vector<Objectives>& points, const Objectives& worst,
                    const Senses& senses) {
  if (worst.empty()) return 0;
  Senses opposite;
  for (const Sense sense : senses)
    opposite.push_back(sense == Sense::minimize ? Sense::maximize : Sense::minimize);
  const Objectives best = worst_of(points, opposite);
  // A constant objective decides nothing, so the box is that of the others.
  std::vector<Objectives> scaled;
  Senses deciding;
  for (std::size_t k = 0; k < senses.size(); ++k)
    if (worst[k] != best[k]) deciding.push_back(Sense::minimize);
  if (deciding.empty()) return 1;
  for (const Objectives& point : points) {
    Objectives& p = scaled.emplace_back();
    for (std::size_t k = 0; k < senses.size(); ++k)
      if (worst[k] != best[k]) p.push_back((point[k] - best[k]) / (worst[k] - best[k]));
  }
  return hypervolume(scaled, Objectives(deciding.size(), 1.0), deciding);
}

// True for settings that pose another problem: a short context is not better than a long one.
bool is_workload(const std::string& key) {
  return key == "step.context" || key == "step.prompt" || key.starts_with("workload.");
}

std::vector<std::string> notes_on_workloads(const PointTable& table,
                                            const std::vector<std::size_t>& compared,
                                            const WholeComparison* whole) {
  std::vector<std::string> varied;
  std::string example;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!is_workload(table.columns[c].key)) continue;
    const auto label = [&](std::size_t i) { return table.points[i].labels[c]; };
    const auto same = [&](std::size_t i) { return label(i) == label(compared[0]); };
    if (whole != nullptr ? !whole->differ.at(c) : std::ranges::all_of(compared, same)) continue;
    varied.push_back(table.columns[c].name);
    if (example.empty() && table.columns[c].numeric && !label(compared[0]).empty())
      example = fmt::format("; see one at a time: --where \"{} == {}\"", varied.back(),
                            label(compared[0]));
  }
  if (varied.empty()) return {};
  return {fmt::format("points differ in {}, which is what is asked and no choice{}", join(varied),
                      example)};
}

// The comparison of all points by these objectives; null where the table has them all.
const WholeComparison* comparison_of(const PointTable& table,
                                     const std::vector<ParetoObjective>& objectives) {
  if (!table.whole || !table.whole->comparison) return nullptr;
  const WholeComparison& all = *table.whole->comparison;
  const auto same = [](const ReportObjective& a, const ParetoObjective& b) {
    return a.metric == b.name && a.maximize == (b.sense == Sense::maximize);
  };
  return std::ranges::equal(all.objectives, objectives, same) ? &all : nullptr;
}

ParetoCounts counts_of(const WholeComparison& all) {
  return {.compared = static_cast<std::size_t>(all.compared),
          .unacceptable = static_cast<std::size_t>(all.unacceptable),
          .without = {.failed = static_cast<std::size_t>(all.failed),
                      .unfit = static_cast<std::size_t>(all.unfit),
                      .valueless = static_cast<std::size_t>(all.valueless)}};
}

// True where any point has an interval; programs get its ends as columns.
bool has_intervals(const ParetoObjective& objective, const std::vector<std::size_t>& points) {
  return std::ranges::any_of(
      points, [&](std::size_t i) { return objective.values[i] && objective.values[i]->ci95; });
}

void add_cells(const ParetoObjective& objective, std::size_t i, bool intervals, Row& row) {
  const Metric& metric = *objective.values[i];
  row.push_back(cell_of(metric));
  if (!intervals) return;
  row.push_back(metric.ci95 ? Cell(metric.ci95->low) : Cell());
  row.push_back(metric.ci95 ? Cell(metric.ci95->high) : Cell());
}

}  // namespace

ParetoObjective objective_of(const PointTable& table, const ReportObjective& objective) {
  ParetoObjective out{.name = objective.metric,
                      .sense = objective.maximize ? Sense::maximize : Sense::minimize};
  for (const ReportPoint& point : table.points) {
    const Metric* metric = find_metric(point, objective.metric);
    out.values.push_back(metric != nullptr ? std::optional(*metric) : std::nullopt);
    if (metric != nullptr) out.unit = metric->unit;
  }
  return out;
}

ParetoReport pareto_of(const PointTable& table, std::vector<ParetoObjective> objectives) {
  TS_EXPECTS(!objectives.empty());
  ParetoReport out{.table = &table, .objectives = std::move(objectives)};
  Senses senses;
  for (const ParetoObjective& objective : out.objectives) {
    TS_EXPECTS(objective.values.size() == table.points.size(), objective.values.size());
    senses.push_back(objective.sense);
  }
  std::vector<std::size_t> compared;
  std::vector<Objectives> points;
  for (std::size_t i = 0; i < table.points.size(); ++i) {
    Objectives point;
    for (const ParetoObjective& objective : out.objectives)
      if (objective.values[i] && std::isfinite(objective.values[i]->value))
        point.push_back(objective.values[i]->value);
    if (point.size() < senses.size()) {
      out.without.push_back(i);
    } else if (!table.feasible.empty() && !table.feasible[i]) {
      out.unacceptable.push_back(i);
    } else {
      compared.push_back(i);
      points.push_back(std::move(point));
    }
  }
  const WholeComparison* whole = comparison_of(table, out.objectives);
  if (whole != nullptr) {
    out.counts = counts_of(*whole);
  } else {
    out.counts = {.compared = compared.size(), .unacceptable = out.unacceptable.size()};
    for (const std::size_t i : out.without) out.counts.without.add(table.points[i]);
  }
  out.notes = notes_on_workloads(table, compared, whole);
  const std::vector<std::size_t> front = pareto_front(points, senses);
  for (std::size_t i = 0; i < compared.size(); ++i)
    (std::ranges::binary_search(front, i) ? out.front : out.dominated).push_back(compared[i]);
  if (const auto knee = knee_point(points, senses)) out.knee = compared[*knee];
  out.hypervolume =
      volume_share(points, whole != nullptr ? whole->worst : worst_of(points, senses), senses);
  const ParetoObjective& first = out.objectives.front();
  std::ranges::stable_sort(out.front, [&](std::size_t a, std::size_t b) {
    const double left = first.values[a]->value;
    const double right = first.values[b]->value;
    return first.sense == Sense::maximize ? left > right : left < right;
  });
  return out;
}

Table table_of(const ParetoReport& report, bool all) {
  const PointTable& points = *report.table;
  const PointLabels labels(points);
  Table out{.title = points.title.empty() ? "Pareto front" : "Pareto front of " + points.title};
  out.columns.push_back({"point"});
  if (all) out.columns.push_back({"front", Align::left});
  for (Column& column : labels.columns()) out.columns.push_back(std::move(column));
  std::vector<std::size_t> rows = report.front;
  if (all) std::ranges::copy(report.dominated, std::back_inserter(rows));
  for (const ParetoObjective& objective : report.objectives) {
    out.columns.push_back(column_of(objective, rows));
    if (has_intervals(objective, rows))
      for (const char* end : {"low", "high"})
        out.columns.push_back({.title = fmt::format("{}, ci95 {}", objective.name, end),
                               .readers = Readers::programs});
  }
  for (const ParetoColumn& column : report.columns)
    out.columns.push_back({column.title, Align::left});
  out.columns.push_back({"run", Align::left});
  out.columns.push_back({.title = "rerun", .readers = Readers::programs});
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const std::size_t i = rows[at];
    const ReportPoint& point = points.points[i];
    Row row{Cell(point.position, std::to_string(point.position) + (report.knee == i ? " *" : ""))};
    if (all) row.emplace_back(at < report.front.size());
    for (std::string& label : labels.cells(i)) row.emplace_back(std::move(label));
    for (const ParetoObjective& objective : report.objectives)
      add_cells(objective, i, has_intervals(objective, rows), row);
    for (const ParetoColumn& column : report.columns) row.emplace_back(column.cells[i]);
    row.emplace_back(point.run_id, point.run_id.substr(0, 12));
    row.emplace_back(point.rerun);
    out.add(std::move(row));
  }
  const std::size_t compared = report.counts.compared;
  out.notes.push_back(fmt::format(
      "{} of {} points are on the front, {} are dominated; it covers "
      "{:.4f} of the box between the worst and the best of them (hypervolume: of this "
      "box alone, so not to be compared with that of other points)",
      report.front.size(), compared, compared - report.front.size(), report.hypervolume));
  if (report.knee)
    out.notes.push_back(
        fmt::format("* knee: nearest to the best of every objective at once, each scaled from its "
                    "best to its worst on the front; again: `{}`",
                    points.points[*report.knee].rerun));
  if (report.counts.unacceptable > 0)
    out.notes.push_back(fmt::format("{} more do not meet the constraints of the sweep",
                                    report.counts.unacceptable));
  const MissingPoints& missing = report.counts.without;
  if (missing.count() > 0)
    out.notes.push_back(
        fmt::format("not compared: {} ({})", points_text(missing.count()), missing.text()));
  for (const ParetoObjective& objective : report.objectives)
    if (!objective.note.empty())
      out.notes.push_back(fmt::format("{}: {}", objective.name, objective.note));
  for (const std::string& note : report.notes) out.notes.push_back(note);
  return out;
}

}  // namespace tiersim
