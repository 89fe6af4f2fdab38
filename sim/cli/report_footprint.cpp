// tiersim report footprint: the bytes in each tier, for configurations, records or stores; for
// scenarios also one GPU's part of a replica, and the largest batch that fits.
#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "reports/footprint/footprint_points.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/baselines.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/report_kinds.hpp"
#include "sim/record/record_reader.hpp"
#include "sim/runner/load.hpp"
#include "sim/runner/point_loader.hpp"
#include "sim/study/solve_run.hpp"
#include "sim/sweep/store.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct FootprintOptions {
  SourceOptions sources;
  std::string baseline;
  std::vector<std::string> contexts{"1K", "2K", "4K", "8K", "16K", "32K", "64K", "128K"};
  bool contexts_given = false;
  std::string format = "text";
};

// "32K" is 32 x 1024 positions, as context lengths are usually given; M is 1024 K.
std::int64_t context_of(const std::string& text) {
  constexpr std::int64_t kMost = 100'000'000;  // the range of step.context
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

std::vector<std::string> shipped_with_tpla() {
  std::vector<std::string> out;
  const fs::path shipped = config_root() / "scenarios" / "tpla";
  for (const auto& entry : fs::directory_iterator(shipped))
    if (entry.path().extension() == ".yaml") out.push_back(entry.path().string());
  std::ranges::sort(out);
  return out;
}

// True where the file can be run at other contexts: not a store, record or server.
bool is_scenario(const std::string& file) {
  std::error_code none;
  if (!fs::is_regular_file(file, none)) return true;  // loading reports the mistake
  if (SweepStore::is_store(file)) return false;
  const std::string text = read_file(file);
  if (text.starts_with('{') && origin_of_record(text)) return false;
  Diagnostics diagnostics;
  const Document document = load_document(file, standard_options(), diagnostics);
  return !diagnostics.ok() || !is_of_server(document);
}

// A method may refuse a context other than its scenario's: that is an answer.
LargestBatch largest_batch_at(PointRunner& runner, Point point, std::int64_t context) {
  point.set.push_back(fmt::format("step.context={}", context));
  Diagnostics diagnostics;
  const PointResult result = runner.run(point, Evaluation::accounting, diagnostics);
  if (!diagnostics.ok()) return {{}, diagnostics.list().front().message};
  if (!result.record) return {{}, result.problem};
  return {static_cast<std::int64_t>(result.record->metrics.at("max_batch").value)};
}

FootprintReport scenarios_at_contexts(const FootprintOptions& options) {
  FootprintReport report;
  for (const std::string& text : options.contexts) report.contexts.push_back(context_of(text));
  PointRunner runner(standard_options());
  for (const std::string& scenario : options.sources.sources) {
    if (!is_scenario(scenario)) continue;
    const Point point{scenario, options.sources.set};
    const PointResult result = run_point(runner, point, Evaluation::accounting);
    if (!result.record)
      throw Failure(ExitCode::bad_config,
                    fmt::format("{}:1:1: error: {}", printable(scenario), result.problem));
    FootprintCase& c = report.cases.emplace_back(FootprintCase{scenario, result.record, {}});
    for (const std::int64_t context : report.contexts)
      c.largest.push_back(largest_batch_at(runner, point, context));
  }
  if (report.cases.empty() && options.contexts_given)
    throw Failure(ExitCode::usage,
                  "tiersim: error: --contexts: the largest batches are those of scenarios, and "
                  "there is none among the sources");
  return report;
}

ExitCode report_footprint(FootprintOptions options) {
  if (options.sources.sources.empty()) options.sources.sources = shipped_with_tpla();
  const FootprintReport report = scenarios_at_contexts(options);
  const PointTable table = load_points(options.sources, Evaluation::accounting);
  const auto baseline =
      find_baseline(options.baseline, table, options.sources, Evaluation::accounting);
  if (options.format == "json") {
    fmt::print("{}", to_json(report, table, baseline));
    return ExitCode::ok;
  }
  std::vector<Table> tables;
  if (!report.cases.empty()) tables = tables_of(report);
  for (Table& more : footprint_tables(table, baseline)) tables.push_back(std::move(more));
  print_tables(tables, options.format);
  return ExitCode::ok;
}

}  // namespace

void add_report_footprint(Verb kind) {
  auto options = std::make_shared<FootprintOptions>();
  add_sources(kind, options->sources);
  kind.added("SOURCE").required(false);
  add_baseline(kind, options->baseline);
  const Option contexts =
      kind.option("--contexts", options->contexts,
                  "Contexts of the largest batches: 4096, or 4K for 4 x 1024 positions")
          .comma_separated()
          .type("N,N,...")
          .show_default();
  add_format(kind, options->format);
  kind.footer("Without sources the report is of the shipped scenarios of TPLA.");
  kind.on_chosen([options, contexts] {
    options->contexts_given = contexts.given();
    return report_footprint(*options);
  });
}

}  // namespace tiersim::cli
