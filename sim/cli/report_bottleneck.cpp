// tiersim report bottleneck: the bottleneck of each point, and the next one.
#include <fmt/format.h>

#include "reports/bottleneck/bottleneck_report.hpp"
#include "sim/cli/figure_file.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/report_kinds.hpp"
#include "sim/runner/files.hpp"

namespace tiersim::cli {
namespace {

struct BottleneckOptions {
  SourceOptions sources;
  std::string figure;
  std::string format = "text";
};

ExitCode report_bottleneck(const BottleneckOptions& options) {
  expect_figure(options.figure, options.sources.sources);
  const PointTable table = load_points(options.sources, Evaluation::times);
  if (!options.figure.empty()) write_figure(options.figure, bottleneck_svg(table));
  if (options.figure == "-") return ExitCode::ok;
  if (options.format == "json") {
    fmt::print("{}", bottleneck_json(table));
    return ExitCode::ok;
  }
  print_tables(bottleneck_tables(table), options.format);
  return ExitCode::ok;
}

}  // namespace

void add_report_bottleneck(Verb kind) {
  auto options = std::make_shared<BottleneckOptions>();
  add_sources(kind, options->sources);
  kind.option("--figure", options->figure, "Draw the report; - is stdout, without tables")
      .type("FILE.svg|FILE.pdf");
  add_format(kind, options->format);
  kind.on_chosen([options] { return report_bottleneck(*options); });
}

}  // namespace tiersim::cli
