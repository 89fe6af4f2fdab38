// Curves as tables, JSON and a drawing.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/curves/curves_report.hpp"
#include "reports/points/missing_points.hpp"
#include "reports/render/axis.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> panels_of(const CurvesReport& report) {
  std::vector<std::string> out;
  for (const CurveLine& line : report.lines)
    if (std::ranges::find(out, line.panel) == out.end()) out.push_back(line.panel);
  return out;
}

const Metric* metric_at(const CurvesReport& report, const CurveSample& sample) {
  return find_metric(report.table->points[sample.point], report.metric);
}

std::string of_class(const CurvesReport& report) {
  std::vector<const Metric*> metrics;
  for (const CurveLine& line : report.lines)
    for (const CurveSample& sample : line.samples) metrics.push_back(metric_at(report, sample));
  return class_text(metrics);
}

Table pivot(const CurvesReport& report, const std::string& panel) {
  Table out{.title = report.metric, .readers = Readers::people};
  if (!report.panel_name.empty()) out.title += fmt::format(", {} {}", report.panel_name, panel);
  out.columns.push_back({report.x_name});
  std::map<double, Row> rows;  // by x
  std::size_t lines = 0;
  for (const CurveLine& line : report.lines) lines += line.panel == panel ? 1U : 0U;
  std::size_t at = 1;
  for (const CurveLine& line : report.lines) {
    if (line.panel != panel) continue;
    out.columns.push_back({line.name});
    for (const CurveSample& sample : line.samples) {
      auto& row = rows.emplace(sample.x, Row(lines + 1, Cell({}, "-"))).first->second;
      row[0] = x_label_of(report, sample);
      if (const Metric* metric = metric_at(report, sample)) row[at] = cell_of(*metric);
    }
    ++at;
  }
  for (auto& [x, row] : rows) out.add(std::move(row));
  return out;
}

// The transposed table, with a row for each line, for more lines than fit side by side.
Table turned(const Table& table) {
  Table out{.title = table.title,
            .columns = {{"line \\ " + table.columns.front().title, Align::left}},
            .readers = Readers::people};
  for (const Row& row : table.rows) out.columns.push_back({row.front().shown()});
  for (std::size_t line = 1; line < table.columns.size(); ++line) {
    Row cells{table.columns[line].title};
    for (const Row& row : table.rows) cells.push_back(row[line]);
    out.add(std::move(cells));
  }
  return out;
}

Table listing(const CurvesReport& report) {
  const PointTable& table = *report.table;
  Table out{.title = report.metric, .readers = Readers::csv};
  out.columns.push_back({"point"});
  for (const PointColumn& column : table.columns) out.columns.push_back({column.name});
  for (const char* name : {"value", "ci95 low", "ci95 high", "unit", "class", "run id", "rerun"})
    out.columns.push_back({name});
  for (const CurveLine& line : report.lines)
    for (const CurveSample& sample : line.samples) {
      const ReportPoint& point = table.points[sample.point];
      Row row{point.position};
      row.insert(row.end(), point.labels.begin(), point.labels.end());
      if (const Metric* metric = metric_at(report, sample); metric == nullptr)
        row.insert(row.end(), {Cell(), Cell(), Cell(), report.unit, Cell()});
      else
        row.insert(row.end(), {metric->value, metric->ci95 ? Cell(metric->ci95->low) : Cell(),
                               metric->ci95 ? Cell(metric->ci95->high) : Cell(), report.unit,
                               name(metric->number_class)});
      row.insert(row.end(), {point.run_id, point.rerun});
      out.add(std::move(row));
    }
  return out;
}

}  // namespace

const std::string& x_label_of(const CurvesReport& report, const CurveSample& sample) {
  const auto& columns = report.table->columns;
  const auto it = std::ranges::find(columns, report.x_name, &PointColumn::name);
  return report.table->points[sample.point].labels[static_cast<std::size_t>(it - columns.begin())];
}

std::vector<Table> tables_of(const CurvesReport& report) {
  constexpr std::size_t kMostBesideEachOther = 16;
  std::vector<Table> out;
  for (const std::string& panel : panels_of(report)) {
    Table table = pivot(report, panel);
    out.push_back(table.columns.size() > kMostBesideEachOther + 1 ? turned(table) : table);
  }
  if (out.empty()) return {listing(report)};
  const std::string unit = report.unit == "1" ? "a plain number" : report.unit;
  out.back().notes.push_back(
      fmt::format("{}: {}, class {}; brackets: 95 % interval, where numbers "
                  "behind it have one",
                  report.metric, unit, of_class(report)));
  if (report.table->whole)
    out.back().notes.push_back(fmt::format("{} of {} points: {}", report.table->points.size(),
                                           report.table->whole->points,
                                           report.table->whole->chosen_by));
  for (const MetricLimit& limit : report.limits)
    out.back().notes.push_back(
        fmt::format("{} ({}): dashed in the figure", limit_text(limit, report.unit), limit.source));
  MissingPoints missing;
  for (const CurveLine& line : report.lines)
    for (const CurveSample& sample : line.samples)
      if (metric_at(report, sample) == nullptr) missing.add(report.table->points[sample.point]);
  if (missing.count() > 0)
    out.back().notes.push_back(
        fmt::format("-: {} ({})", points_text(missing.count()), missing.text()));
  out.push_back(listing(report));
  return out;
}

std::string to_json(const CurvesReport& report) {
  Json lines = Json::array();
  for (const CurveLine& line : report.lines) {
    Json points = Json::array();
    for (const CurveSample& sample : line.samples) {
      const ReportPoint& point = report.table->points[sample.point];
      Json p{{"x", sample.x}, {"label", x_label_of(report, sample)}, {"position", point.position}};
      const Metric* metric = metric_at(report, sample);
      p["value"] = metric != nullptr ? Json(metric->value) : Json();
      if (metric != nullptr) p["class"] = name(metric->number_class);
      if (metric != nullptr && metric->ci95) p["ci95"] = {metric->ci95->low, metric->ci95->high};
      if (!point.problem.empty()) p["problem"] = point.problem;
      p["run_id"] = point.run_id;
      p["rerun"] = point.rerun;
      points.push_back(std::move(p));
    }
    lines.push_back({{"line", line.name}, {"panel", line.panel}, {"points", points}});
  }
  Json limits = Json::array();
  for (const MetricLimit& limit : report.limits)
    limits.push_back({{"value", limit.value}, {"name", limit.name}, {"source", limit.source}});
  Json out{{"metric", report.metric}, {"unit", report.unit},        {"x", report.x_name},
           {"x_unit", report.x_unit}, {"panel", report.panel_name}, {"limits", limits},
           {"lines", lines}};
  if (const auto& whole = report.table->whole)
    out["part"] = {{"of", whole->points}, {"chosen_by", whole->chosen_by}};
  return out.dump(2) + '\n';
}

Figure figure_of(const CurvesReport& report) {
  AxisRange across;
  AxisRange up;
  for (const CurveLine& line : report.lines)
    for (const CurveSample& sample : line.samples) {
      across.add(sample.x);
      const Metric* metric = metric_at(report, sample);
      if (metric == nullptr) continue;
      up.add(metric->ci95 ? metric->ci95->low : metric->value);
      up.add(metric->ci95 ? metric->ci95->high : metric->value);
    }
  for (const MetricLimit& limit : report.limits) up.add(limit.value);
  const ShownUnit x_unit = shown_unit(report.x_unit, across.high);
  const ShownUnit y_unit = shown_unit(report.unit, up.high);
  const PointTable& table = *report.table;
  Figure figure{.title = table.title.empty() ? axis_label(report.metric, {}) : table.title,
                .columns = 3,
                .common_x = true,
                .common_y = true,
                .panels = {}};
  const FigureAxis x{.label = axis_label(report.x_name, x_unit),
                     .log_base = is_wide(across) ? 2 : 0};
  const FigureAxis y{.label = axis_label(report.metric, y_unit),
                     .log_base = up.low > 0 && up.high > 30 * up.low ? 10 : 0};
  bool intervals = false;
  for (const std::string& panel : panels_of(report)) {
    FigurePanel& drawn = figure.panels.emplace_back(FigurePanel{.x = x, .y = y});
    for (const MetricLimit& limit : report.limits)
      drawn.limits.push_back(
          {.y = limit.value * y_unit.factor, .label = limit_text(limit, report.unit)});
    if (!report.panel_name.empty()) drawn.title = fmt::format("{} {}", report.panel_name, panel);
    for (const CurveLine& line : report.lines) {
      if (line.panel != panel) continue;
      FigureSeries& series = drawn.series.emplace_back(FigureSeries{.name = line.name});
      for (const CurveSample& sample : line.samples) {
        const Metric* metric = metric_at(report, sample);
        FigurePoint& point = series.points.emplace_back(
            FigurePoint{.x = sample.x * x_unit.factor,
                        .y = metric != nullptr ? metric->value * y_unit.factor : kNoValue});
        if (metric != nullptr) point.set_interval(metric->ci95, y_unit.factor);
        intervals = intervals || point.has_interval();
      }
    }
  }
  figure.subtitle =
      fmt::format("class {}{}", of_class(report), intervals ? "; whiskers: 95 % intervals" : "");
  if (table.whole)
    figure.subtitle += fmt::format("; {} of {} points", table.points.size(), table.whole->points);
  number_styles(figure);
  return figure;
}

}  // namespace tiersim
