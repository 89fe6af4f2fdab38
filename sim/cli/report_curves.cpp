// tiersim report curves SOURCE... --x context --y throughput --by method: a metric over an axis.
#include <fmt/format.h>

#include "reports/curves/curves_report.hpp"
#include "reports/render/figure_svg.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/figure_file.hpp"
#include "sim/cli/point_metrics.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/report_kinds.hpp"
#include "sim/runner/files.hpp"
#include "sim/sweep/metric_magnitude.hpp"

namespace tiersim::cli {
namespace {

constexpr const char* kUsualMetric = "throughput_tokens_per_s";

struct CurvesOptions {
  SourceOptions sources;
  std::string x;
  std::string y;
  std::vector<std::string> by;
  std::string panel;
  std::string slo;
  std::string figure;
  std::string format = "text";
};

// The sweep's first objective, or a metric of every step and server.
std::string default_metric(const PointTable& table) {
  return table.objectives.empty() ? std::string(kUsualMetric) : table.objectives.front().metric;
}

// The value of --slo ("200 ms", "20") in the unit of the metric.
double slo_of(const std::string& text, const std::string& metric) {
  const std::string wanted = metric_magnitude(metric, 0).dimension;
  if (const auto expression = Expression::parse(text); expression && expression->names().empty()) {
    const auto value = expression->evaluate([](std::string_view) { return std::nullopt; });
    const Magnitude* number = value ? std::get_if<Magnitude>(&*value) : nullptr;
    if (number != nullptr && number->dimension == wanted) return number->value;
  }
  throw Failure(ExitCode::usage,
                printable(fmt::format(
                    "tiersim: error: --slo: '{}' is no value of {} (it is a {})", text, metric,
                    wanted.empty() ? "plain number" : "number with a unit of " + wanted)));
}

ExitCode report_curves(const CurvesOptions& options) {
  expect_figure(options.figure);
  expect_not_a_source(options.figure, options.sources.sources);
  SourceOptions sources = options.sources;
  sources.limits = true;
  sources.besides = PointChoice::Besides::none;
  sources.metrics = {
      {options.y.empty() ? std::string(kUsualMetric) : full_metric(options.y, "--y")}};
  const PointTable table = load_points(sources, Evaluation::all);
  tell_part(table);
  CurveQuestion question{.metric = metric_of_points(
                             table, options.y.empty() ? default_metric(table) : options.y, "--y")};
  if (!options.x.empty()) question.x = column_of(table, options.x, "--x");
  for (const std::string& name : options.by) question.by.push_back(column_of(table, name, "--by"));
  if (!options.panel.empty()) question.panel = column_of(table, options.panel, "--panel");
  auto found = curves_of(table, question);
  if (!found)
    throw Failure(ExitCode::usage, printable("tiersim: error: report curves: " + found.error()));
  CurvesReport report = *std::move(found);
  if (!options.slo.empty())
    report.limits.push_back({.metric = report.metric,
                             .value = slo_of(options.slo, report.metric),
                             .name = "SLO",
                             .source = "--slo"});
  if (!options.figure.empty()) write_figure(options.figure, to_svg(figure_of(report)));
  if (options.figure == "-") return ExitCode::ok;
  if (options.format == "json")
    fmt::print("{}", to_json(report));
  else
    print_tables(tables_of(report), options.format);
  return ExitCode::ok;
}

}  // namespace

void add_report_curves(Verb kind) {
  auto options = std::make_shared<CurvesOptions>();
  add_sources(kind, options->sources);
  add_points_max(kind, options->sources,
                 "Of a store with more points, the curves have about as many, which lie at some "
                 "values of each axis; --where chooses first");
  kind.option("--x", options->x,
              "Numeric column of the x axis; by default the only one that varies")
      .type("COLUMN");
  kind.option("--y", options->y,
              "Metric of the y axis (throughput, ttft.p99); by default the first objective of the "
              "sweep, or throughput")
      .type("METRIC");
  kind.option("--by", options->by,
              "Columns that distinguish the lines (repeatable); by default all others that vary")
      .comma_separated()
      .type("COLUMN");
  kind.option("--panel", options->panel, "Column with a panel of the figure for each label")
      .type("COLUMN");
  kind.option(
          "--slo", options->slo,
          "Hold the curves against this value of the metric: a dashed line in the figure, as for "
          "slo_ttft and slo_tpot of servers and subject_to of sweeps")
      .type("VALUE");
  kind.option("--figure", options->figure, "Draw the curves, with 95 % intervals")
      .type("FILE.svg|FILE.pdf");
  add_format(kind, options->format);
  kind.on_chosen([options] { return report_curves(*options); });
}

}  // namespace tiersim::cli
