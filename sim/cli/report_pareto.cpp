// tiersim report pareto SOURCE... [--objective maximize:throughput ...]: the Pareto front.
#include <algorithm>

#include <fmt/format.h>

#include "reports/pareto/pareto_report.hpp"
#include "reports/render/figure_svg.hpp"
#include "sim/cli/figure_file.hpp"
#include "sim/cli/point_metrics.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/report_kinds.hpp"
#include "sim/study/accuracy_run.hpp"

namespace tiersim::cli {
namespace {

struct ParetoOptions {
  SourceOptions sources;
  std::vector<std::string> objectives;
  bool accuracy = false;
  bool all = false;
  std::string figure;
  std::string by;
  std::string format = "text";
};

std::vector<ReportObjective> given(const ParetoOptions& options) {
  std::vector<ReportObjective> out;
  for (const std::string& text : options.objectives) {
    const ReportObjective objective = parse_objective(text);
    if (std::ranges::find(out, objective.metric, &ReportObjective::metric) != out.end())
      throw Failure(ExitCode::usage, fmt::format("tiersim: error: --objective: '{}' is given twice",
                                                 objective.metric));
    out.push_back(objective);
  }
  return out;
}

std::vector<ReportObjective> wanted(const ParetoOptions& options, const PointTable& table) {
  std::vector<ReportObjective> out = given(options);
  if (out.empty()) out = table.objectives;
  if (out.empty())
    throw Failure(ExitCode::usage,
                  "tiersim: error: nothing says what is better: give --objective "
                  "maximize:throughput --objective minimize:kv_footprint (a sweep may have its "
                  "own)");
  return out;
}

// Methods may skip rows, which no metric of a record shows.
bool methods_vary(const PointTable& table) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const PointColumn& column = table.columns[c];
    if (column.name != "method" && column.key != "method" && !column.key.starts_with("method."))
      continue;
    const auto same = [&](const ReportPoint& point) {
      return point.labels[c] == table.points.front().labels[c];
    };
    if (!std::ranges::all_of(table.points, same)) return true;
  }
  return false;
}

ExitCode report_pareto(const ParetoOptions& options) {
  expect_figure(options.figure);
  if (!options.by.empty() && options.figure.empty())
    throw Failure(ExitCode::usage, "tiersim: error: --by colours the points of --figure");
  SourceOptions sources = options.sources;
  sources.objectives = given(options);
  sources.configurations = options.accuracy;
  if (options.accuracy || options.all) sources.points_max = 0;
  if (!options.accuracy) {  // recall needs whole records
    sources.besides = PointChoice::Besides::front;
    sources.metrics.emplace();
  }
  const PointTable table = load_points(sources, Evaluation::all);
  std::vector<ParetoObjective> objectives;
  for (const ReportObjective& objective : wanted(options, table)) {
    metric_of_points(table, objective.metric, "--objective");
    objectives.push_back(objective_of(table, objective));
  }
  std::optional<Accuracy> accuracy;
  if (options.accuracy) {
    accuracy = accuracy_of(table);
    objectives.push_back(accuracy->recall);
  }
  ParetoReport report = pareto_of(table, std::move(objectives));
  if (accuracy) report.columns.push_back(accuracy->basis);
  if (!accuracy && methods_vary(table))
    report.notes.emplace_back(
        "methods differ, and what they lose is not in it: recall at budget "
        "beside speed is --accuracy");
  if (!options.figure.empty()) {
    if (report.objectives.size() < 2)
      throw Failure(ExitCode::usage,
                    "tiersim: error: --figure: draws two objectives, and there is one");
    const std::size_t y = options.accuracy ? report.objectives.size() - 1 : 1;
    const auto by = options.by.empty() ? grouping_column(table)
                                       : std::optional(column_of(table, options.by, "--by"));
    write_figure(options.figure, to_svg(figure_of(report, 0, y, by)));
  }
  if (options.figure == "-") return ExitCode::ok;
  if (options.format == "json") {
    fmt::print("{}", to_json(report));
    return ExitCode::ok;
  }
  print_tables({table_of(report, options.all)}, options.format);
  return ExitCode::ok;
}

}  // namespace

void add_report_pareto(Verb kind) {
  auto options = std::make_shared<ParetoOptions>();
  kind.footer(
      "A point is on the Pareto front if no other point is at least as good in every objective\n"
      "and better in one. Points that break a constraint of their sweep are counted but not\n"
      "compared. Records hold no accuracy. --accuracy therefore adds the recall of each method's\n"
      "choice of rows, as `tiersim numerics maple` computes it at the same budget and share of\n"
      "screened components. The study uses synthetic heads: the recall has the class assumed and\n"
      "is not the accuracy of a trained model. Points without a value in that study stay empty\n"
      "and are not compared.");
  add_sources(kind, options->sources);
  add_points_max(kind, options->sources,
                 "Of a store with more points, the figure has about as many beside the front; the "
                 "front and all numbers are those of all points");
  kind.option(
          "--objective", options->objectives,
          "maximize:METRIC or minimize:METRIC (repeatable); the objectives of the sweep by default")
      .type("HOW:METRIC");
  kind.flag("--accuracy", options->accuracy,
            "Also maximize recall at budget of KV methods, where it is computed");
  kind.flag("--all", options->all, "List dominated points as well");
  kind.option("--figure", options->figure,
              "Draw the first objective and the second (with --accuracy: recall)")
      .type("FILE.svg|FILE.pdf");
  kind.option("--by", options->by, "Colour the figure's points by this column").type("COLUMN");
  add_format(kind, options->format);
  kind.on_chosen([options] { return report_pareto(*options); });
}

}  // namespace tiersim::cli
