// tiersim report marginal SOURCE... --x tier --metric cost: the value of one more unit of an axis.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "reports/marginal/marginal_report.hpp"
#include "reports/points/point_values.hpp"
#include "reports/render/figure_svg.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/figure_file.hpp"
#include "sim/cli/point_metrics.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/report_kinds.hpp"
#include "sim/runner/files.hpp"

namespace tiersim::cli {
namespace {

/// Buyers compare a GB by the money and energy of tokens. Points without prices have neither.
constexpr std::array kUsualMetrics{"cost_usd_per_mtoken", "energy_j_per_token"};

struct MarginalOptions {
  SourceOptions sources;
  std::vector<std::string> metrics;
  std::string x;
  std::vector<std::string> by;
  std::string over;
  std::string figure;
  std::string format = "text";
};

std::vector<std::string> metrics_of(const MarginalOptions& options, const PointTable& table) {
  std::vector<std::string> out;
  for (const std::string& name : options.metrics)
    out.push_back(metric_of_points(table, name, "--metric"));
  if (!out.empty()) return out;
  const std::vector<std::string> known = metric_names(table);
  for (const char* name : kUsualMetrics)
    if (std::ranges::find(known, name) != known.end()) out.emplace_back(name);
  if (out.empty())
    throw Failure(ExitCode::usage,
                  "tiersim: error: report marginal: the points have neither cost nor energy (name "
                  "a metric by --metric)");
  return out;
}

ExitCode report_marginal(const MarginalOptions& options) {
  expect_figure(options.figure);
  expect_not_a_source(options.figure, options.sources.sources);
  SourceOptions sources = options.sources;
  sources.metrics = {kUsualMetrics.begin(), kUsualMetrics.end()};
  for (const std::string& name : options.metrics)
    sources.metrics->push_back(full_metric(name, "--metric"));
  const PointTable table = load_points(sources, Evaluation::all);
  MarginalQuestion question{.metrics = metrics_of(options, table)};
  if (!options.x.empty()) question.x = column_of(table, options.x, "--x");
  for (const std::string& name : options.by) question.by.push_back(column_of(table, name, "--by"));
  if (!options.over.empty()) question.over = column_of(table, options.over, "--over");
  const auto report = marginal_of(table, question);
  if (!report)
    throw Failure(ExitCode::usage, printable("tiersim: error: report marginal: " + report.error()));
  if (!options.figure.empty()) write_figure(options.figure, to_svg(figure_of(*report)));
  if (options.figure == "-") return ExitCode::ok;
  if (options.format == "json")
    fmt::print("{}", to_json(*report));
  else
    print_tables(tables_of(*report), options.format);
  return ExitCode::ok;
}

}  // namespace

void add_report_marginal(Verb kind) {
  auto options = std::make_shared<MarginalOptions>();
  add_sources(kind, options->sources);
  kind.option("--metric", options->metrics,
              "Metrics that change (repeatable); by default cost and energy of tokens")
      .comma_separated()
      .type("METRIC");
  kind.option("--x", options->x,
              "Numeric column whose next unit is valued, such as the capacity of a tier or the "
              "bandwidth of a link; by default the only one that varies")
      .type("COLUMN");
  kind.option("--by", options->by,
              "Columns that distinguish the lines (repeatable); by default all others that vary")
      .comma_separated()
      .type("COLUMN");
  kind.option("--over", options->over,
              "Column of repeats, such as the seed, whose differences are averaged; they give the "
              "95 % interval")
      .type("COLUMN");
  kind.option("--figure", options->figure, "Draw the changes, with 95 % intervals")
      .type("FILE.svg|FILE.pdf");
  add_format(kind, options->format);
  kind.on_chosen([options] { return report_marginal(*options); });
}

}  // namespace tiersim::cli
