// tiersim report io: the traffic of each device, for configurations, records or stores.
#include <fmt/format.h>

#include "reports/io/io_report.hpp"
#include "sim/cli/baselines.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/report_kinds.hpp"

namespace tiersim::cli {
namespace {

struct IoOptions {
  SourceOptions sources;
  std::string baseline;
  std::string format = "text";
};

ExitCode report_io(const IoOptions& options) {
  const PointTable table = load_points(options.sources, Evaluation::times);
  const auto baseline = find_baseline(options.baseline, table, options.sources, Evaluation::times);
  if (options.format == "json") {
    fmt::print("{}", io_json(table, baseline));
    return ExitCode::ok;
  }
  print_tables(io_tables(table, baseline), options.format);
  return ExitCode::ok;
}

}  // namespace

void add_report_io(Verb kind) {
  auto options = std::make_shared<IoOptions>();
  add_sources(kind, options->sources);
  add_baseline(kind, options->baseline);
  add_format(kind, options->format);
  kind.on_chosen([options] { return report_io(*options); });
}

}  // namespace tiersim::cli
