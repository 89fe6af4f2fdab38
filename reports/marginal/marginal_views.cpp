// Marginal values as tables, JSON and a drawing.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/marginal/marginal_report.hpp"
#include "reports/points/point_values.hpp"
#include "reports/render/axis.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> metrics_of(const MarginalReport& report) {
  std::vector<std::string> out;
  for (const MarginalLine& line : report.lines)
    if (std::ranges::find(out, line.metric) == out.end()) out.push_back(line.metric);
  return out;
}

/// "USD per GB"; a metric without a unit gives "per GB".
std::string unit_of_change(const MarginalLine& line, const PerUnit& per) {
  const std::string of = line.unit == "1" ? "" : line.unit + ' ';
  return per.name.empty() ? of + "per unit" : of + "per " + per.name;
}

Cell number_cell(double value) {
  return Cell(value, fmt::format("{:+.4g}", value));
}

Table table_for(const MarginalReport& report, const std::string& metric) {
  const PerUnit per = per_unit_of(report.x_unit);
  Table out{.id = "marginal_" + metric};
  const bool one = std::ranges::all_of(report.lines, &std::string::empty, &MarginalLine::name);
  for (const MarginalLine& line : report.lines) {
    if (line.metric != metric) continue;
    if (out.columns.empty()) {
      const std::string change = unit_of_change(line, per);
      out.title = fmt::format("{}: change with one more {} of {}", metric,
                              per.name.empty() ? "unit" : per.name, report.x_name);
      out.columns = {
          {"line", Align::left, "", "", "", "", one ? Readers::programs : Readers::everyone},
          {report.x_name + " from", Align::right, "from"},
          {"to"},
          {metric + " there", Align::right, "before"},
          {"then", Align::right, "after"},
          {change, Align::right, "per_unit"},
          {"95 % interval", Align::right, "", "", "", "", Readers::people},
          {"ci95 low", Align::right, "ci95_low", "", "", "", Readers::programs},
          {"ci95 high", Align::right, "ci95_high", "", "", "", Readers::programs},
          {"repeats", Align::right, "", "", "", "", Readers::programs}};
    }
    for (const MarginalStep& step : line.steps) {
      std::string interval = "-";
      if (step.ci95)
        interval = fmt::format("[{:+.3g}, {:+.3g}]{}", step.ci95->low * per.size,
                               step.ci95->high * per.size, step.undecided() ? " undecided" : "");
      out.add({line.name, step.from, step.to, Cell::quantity(step.before, line.unit),
               Cell::quantity(step.after, line.unit), number_cell(step.per_unit * per.size),
               Cell(interval), step.ci95 ? Cell(step.ci95->low * per.size) : Cell(),
               step.ci95 ? Cell(step.ci95->high * per.size) : Cell(), step.repeats});
    }
  }
  return out;
}

}  // namespace

std::vector<Table> tables_of(const MarginalReport& report) {
  std::vector<Table> out;
  for (const std::string& metric : metrics_of(report)) out.push_back(table_for(report, metric));
  std::vector<std::string>& notes = out.back().notes;
  notes.push_back(
      fmt::format("class {}; {}", report.of_class,
                  report.paired ? "intervals of the mean difference of equal repeats (Student's t)"
                                : "intervals as if those of both points were independent"));
  notes.emplace_back("undecided: the interval has both signs");
  if (report.missing.count() > 0)
    notes.push_back(fmt::format("left out: {} ({})", points_text(report.missing.count()),
                                report.missing.text()));
  return out;
}

std::string to_json(const MarginalReport& report) {
  const PerUnit per = per_unit_of(report.x_unit);
  Json lines = Json::array();
  for (const MarginalLine& line : report.lines) {
    Json steps = Json::array();
    for (const MarginalStep& step : line.steps) {
      Json s{{"from", step.from},
             {"to", step.to},
             {"from_x", step.from_x},
             {"to_x", step.to_x},
             {"before", step.before},
             {"after", step.after},
             {"per_unit", step.per_unit * per.size},
             {"repeats", step.repeats}};
      if (step.ci95) s["ci95"] = {step.ci95->low * per.size, step.ci95->high * per.size};
      steps.push_back(std::move(s));
    }
    lines.push_back({{"metric", line.metric},
                     {"unit", line.unit},
                     {"change_unit", unit_of_change(line, per)},
                     {"line", line.name},
                     {"steps", steps}});
  }
  const Json out{{"x", report.x_name},      {"x_unit", report.x_unit},
                 {"per", per.name},         {"class", report.of_class},
                 {"paired", report.paired}, {"left_out", report.missing.count()},
                 {"lines", lines}};
  return out.dump(2) + '\n';
}

Figure figure_of(const MarginalReport& report) {
  const PerUnit per = per_unit_of(report.x_unit);
  AxisRange across;
  for (const MarginalLine& line : report.lines)
    for (const MarginalStep& step : line.steps) across.add(step.to_x);
  const ShownUnit x_unit = shown_unit(report.x_unit, across.high);
  Figure figure{.title = report.title.empty() ? report.x_name : report.title,
                .columns = 3,
                .common_x = true,
                .panels = {}};
  bool intervals = false;
  for (const std::string& metric : metrics_of(report)) {
    FigurePanel& panel = figure.panels.emplace_back(FigurePanel{
        .title = metric,
        .x = {.label = axis_label(report.x_name, x_unit), .log_base = is_wide(across) ? 2 : 0}});
    for (const MarginalLine& line : report.lines) {
      if (line.metric != metric) continue;
      panel.y.label = unit_of_change(line, per);
      FigureSeries& series = panel.series.emplace_back(FigureSeries{.name = line.name});
      for (const MarginalStep& step : line.steps) {
        FigurePoint& point = series.points.emplace_back(
            FigurePoint{.x = step.to_x * x_unit.factor, .y = step.per_unit * per.size});
        point.set_interval(step.ci95, per.size);
        intervals = intervals || point.has_interval();
      }
    }
  }
  figure.subtitle = fmt::format("change with one more {} up to here; class {}{}",
                                per.name.empty() ? "unit" : per.name, report.of_class,
                                intervals ? "; whiskers: 95 % intervals" : "");
  number_styles(figure);
  return figure;
}

}  // namespace tiersim
