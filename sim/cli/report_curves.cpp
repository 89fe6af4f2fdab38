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

namespace tiersim::cli {
namespace {

struct CurvesOptions {
  SourceOptions sources;
  std::string x;
  std::string y;
  std::vector<std::string> by;
  std::string panel;
  std::string figure;
  std::string format = "text";
};

// The sweep's first objective, or a metric of every step and server.
std::string default_metric(const PointTable& table) {
  return table.objectives.empty() ? "throughput_tokens_per_s" : table.objectives.front().metric;
}

ExitCode report_curves(const CurvesOptions& options) {
  expect_figure(options.figure);
  expect_not_a_source(options.figure, options.sources.sources);
  if (!options.y.empty()) full_metric(options.y, "--y");
  const PointTable table = load_points(options.sources, Evaluation::all);
  CurveQuestion question{.metric = metric_of_points(
                             table, options.y.empty() ? default_metric(table) : options.y, "--y")};
  if (!options.x.empty()) question.x = column_of(table, options.x, "--x");
  for (const std::string& name : options.by) question.by.push_back(column_of(table, name, "--by"));
  if (!options.panel.empty()) question.panel = column_of(table, options.panel, "--panel");
  const auto report = curves_of(table, question);
  if (!report)
    throw Failure(ExitCode::usage, printable("tiersim: error: report curves: " + report.error()));
  if (!options.figure.empty()) write_figure(options.figure, to_svg(figure_of(*report)));
  if (options.figure == "-") return ExitCode::ok;
  if (options.format == "json")
    fmt::print("{}", to_json(*report));
  else
    print_tables(tables_of(*report), options.format);
  return ExitCode::ok;
}

}  // namespace

void add_report_curves(Verb kind) {
  auto options = std::make_shared<CurvesOptions>();
  add_sources(kind, options->sources);
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
  kind.option("--figure", options->figure, "Draw the curves, with 95 % intervals")
      .type("FILE.svg|FILE.pdf");
  add_format(kind, options->format);
  kind.on_chosen([options] { return report_curves(*options); });
}

}  // namespace tiersim::cli
