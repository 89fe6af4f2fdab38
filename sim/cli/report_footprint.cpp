// tiersim report footprint: what one GPU of a replica has and holds, and the largest batch that
// fits.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "reports/footprint/footprint_report.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/loading.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/report_kinds.hpp"
#include "sim/cli/solving.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct FootprintOptions {
  std::vector<std::string> scenarios;
  std::vector<std::string> set;
  std::vector<std::string> contexts{"1K", "2K", "4K", "8K", "16K", "32K", "64K", "128K"};
  std::string format = "text";
};

// "32K": 32 x 1024 positions, as the lengths of contexts are given; M: 1024 K.
std::int64_t context_of(const std::string& text) {
  constexpr std::int64_t kMost = 100'000'000;  // as step.context's range
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const std::string unit(stop, end);
  std::int64_t factor = unit.empty() ? 1 : 0;
  if (unit == "K") factor = 1024;
  if (unit == "M") factor = std::int64_t{1024} * 1024;
  if (error == std::errc() && factor > 0 && value > 0 && value <= kMost / factor)
    return value * factor;
  throw Failure(ExitCode::usage,
                fmt::format("tiersim: error: --contexts: '{}' is no length from 1 to {} positions "
                            "(32768, or 32K for 32 x 1024)",
                            printable(text), kMost));
}

std::vector<std::string> scenarios_of(const FootprintOptions& options) {
  if (!options.scenarios.empty()) return options.scenarios;
  std::vector<std::string> out;
  const fs::path shipped = config_root() / "scenarios" / "tpla";
  for (const auto& entry : fs::directory_iterator(shipped))
    if (entry.path().extension() == ".yaml") out.push_back(entry.path().string());
  std::ranges::sort(out);
  return out;
}

// A method may not allow a context that its scenario does not have: that is an answer.
LargestBatch largest_batch_at(PointRunner& runner, Point point, std::int64_t context) {
  point.set.push_back(fmt::format("step.context={}", context));
  Diagnostics diagnostics;
  const PointResult result = runner.run(point, Readings::accounting, diagnostics);
  if (!diagnostics.ok()) return {{}, diagnostics.list().front().message};
  if (!result.record) return {{}, result.problem};
  return {static_cast<std::int64_t>(result.record->metrics.at("max_batch").value)};
}

ExitCode report_footprint(const FootprintOptions& options) {
  FootprintReport report;
  for (const std::string& text : options.contexts) report.contexts.push_back(context_of(text));
  PointRunner runner(standard_options());
  for (const std::string& scenario : scenarios_of(options)) {
    const Point point{scenario, options.set};
    const PointResult result = run_point(runner, point, Readings::accounting);
    if (!result.record)
      throw Failure(ExitCode::bad_config,
                    fmt::format("{}:1:1: error: {}", printable(scenario), result.problem));
    FootprintCase& c = report.cases.emplace_back(FootprintCase{scenario, result.record, {}});
    for (const std::int64_t context : report.contexts)
      c.largest.push_back(largest_batch_at(runner, point, context));
  }
  if (options.format == "json") {
    fmt::print("{}", to_json(report));
    return ExitCode::ok;
  }
  const Precision precision = options.format == "csv" ? Precision::exact : Precision::rounded;
  print_tables(tables_of(report, precision), options.format);
  return ExitCode::ok;
}

}  // namespace

void add_report_footprint(CLI::App& kind, Action& action) {
  auto options = std::make_shared<FootprintOptions>();
  kind.add_option("CONFIG", options->scenarios,
                  "Scenario files (schema tiersim.scenario/v1); those of TPLA by default");
  kind.add_option("--set", options->set, "Override a setting of each: a.b=value (repeatable)")
      ->allow_extra_args(false)
      ->type_name(kSettingType);
  kind.add_option("--contexts", options->contexts,
                  "Contexts of the largest batches: 4096, or 4K for 4 x 1024 positions")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N,N,...")
      ->capture_default_str();
  add_format(kind, options->format);
  kind.callback([options, &action] { action = [options] { return report_footprint(*options); }; });
}

}  // namespace tiersim::cli
