// tiersim report sensitivity CONFIG --metric tpot: moves every sourced number down and up, one at a
// time, and simulates. For a store, or for several sources: the effect of each axis on the metric.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "reports/sensitivity/axis_effects.hpp"
#include "reports/sensitivity/tornado.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"
#include "sim/cli/figure_file.hpp"
#include "sim/cli/point_metrics.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/report_kinds.hpp"
#include "sim/record/record_reader.hpp"
#include "sim/runner/load.hpp"
#include "sim/study/solve_run.hpp"
#include "sim/sweep/store.hpp"

namespace tiersim::cli {
namespace {

struct SensitivityOptions {
  SourceOptions sources;
  std::string metric;
  std::string by;  // empty: "20%"
  std::vector<std::string> vary;
  std::string figure;
  std::string format = "text";
};

// "20%", "20 %" or "0.2" as 0.2.
double share_of(const std::string& text) {
  std::string number = text;
  const bool percent = number.ends_with('%');
  if (percent) number.pop_back();
  while (number.ends_with(' ')) number.pop_back();
  const auto value = plain_number(number);
  const double share = value ? (percent ? *value / 100 : *value) : 0;
  if (share > 0 && share < 1) return share;
  throw Failure(ExitCode::usage,
                fmt::format("tiersim: error: --by: '{}' is no share between 0 and 1 (20%, 0.2)",
                            printable(text)));
}

// Changes parameters of one configuration.
class Mover {
 public:
  Mover(Point point, std::string metric, double by)
      : runner_(standard_options()),
        point_(std::move(point)),
        metric_(std::move(metric)),
        by_(by) {}

  /// A configuration with mistakes, or one that does not fit, is a failure.
  std::shared_ptr<const RunRecord> base() {
    const PointResult result = run_point(runner_, point_, Evaluation::times);
    if (!result.record)
      throw Failure(ExitCode::bad_config,
                    fmt::format("{}:1:1: error: {}", point_.scenario.string(), result.problem));
    metric_of(*result.record, metric_, point_);
    return result.record;
  }

  /// Nothing if the value cannot be moved: zero, or text.
  std::optional<TornadoRow> row(const std::string& parameter, const std::string& value,
                                const std::optional<Interval<std::string>>& ci95) {
    TornadoRow out{.parameter = parameter, .value = value, .to_ci95 = ci95.has_value()};
    if (ci95) {
      out.low.value = ci95->low;
      out.high.value = ci95->high;
    } else if (!by_factor(out)) {
      return std::nullopt;
    }
    run(out.low, parameter);
    run(out.high, parameter);
    return out;
  }

 private:
  // To twelve digits: 0.92 less 20 % is 0.736.
  static double rounded(double value) { return std::stod(fmt::format("{:.12g}", value)); }

  // Sectors, atoms, flits: powers of two of a few bytes. A sector of 26 B does not exist, and would
  // only show the cost of misaligned accesses.
  static bool is_granule(const std::string& value) {
    constexpr std::int64_t kLargest = 4096;
    const auto bytes = parse_quantity<Bytes>(value);
    return bytes && bytes->in_base() >= 2 && bytes->in_base() <= kLargest &&
           std::has_single_bit(static_cast<std::uint64_t>(bytes->in_base()));
  }

  bool by_factor(TornadoRow& row) {
    // The range from zero, in the value's unit, to the value.
    const std::size_t blank = row.value.find(' ');
    const std::string zero = blank == std::string::npos ? "0" : '0' + row.value.substr(blank);
    const bool whole = runner_.takes_whole_numbers(point_, row.parameter);
    const auto range = SettingRange::parse(row.parameter, zero, row.value, whole);
    if (!range) return false;
    const double now = range->range().high;
    double low = now * (1 - by_);
    double high = now * (1 + by_);
    if (is_granule(row.value)) {
      row.granule = true;
      low = now / 2;
      high = now * 2;
    } else if (whole || blank != std::string::npos) {  // base units are also whole
      low = std::min(std::round(low), now - 1);
      high = std::max(std::round(high), now + 1);
    }
    row.low.value = range->text(rounded(low));
    row.high.value = range->text(rounded(high));
    // A share that cannot exceed 1 is moved to 1.
    if (blank == std::string::npos && !whole && now < 1 && high > 1) row.high.value = "1";
    return true;
  }

  void run(TornadoEnd& end, const std::string& parameter) {
    Point point = point_;
    point.set.push_back(parameter + '=' + end.value);
    Diagnostics mistakes;
    const PointResult result = runner_.run(point, Evaluation::times, mistakes);
    if (!mistakes.ok()) {
      end.problem = mistakes.list().front().message;
    } else if (!result.record) {
      end.problem = result.problem;
    } else if (const auto it = result.record->metrics.find(metric_);
               it != result.record->metrics.end()) {
      end.metric = it->second.value;
    } else {
      end.problem = "its record has no such metric";
    }
  }

  PointRunner runner_;
  Point point_;
  std::string metric_;
  double by_;
};

// Without a given metric, one that every step and server has.
std::string metric_of_record(const RunRecord& record, const std::string& asked) {
  if (!asked.empty()) return full_metric(asked, "--metric");
  for (const char* name : {"tpot_s", "ttft_s", "tpot_s.mean"})
    if (record.metrics.contains(name)) return name;
  return "throughput_tokens_per_s";
}

Tornado tornado_of(const SensitivityOptions& options) {
  const Point point{options.sources.sources.front(), options.sources.set};
  PointRunner first(standard_options());
  const PointResult plain = run_point(first, point, Evaluation::times);
  const std::string metric =
      plain.record ? metric_of_record(*plain.record, options.metric) : "step_time_s";
  Tornado out{.metric = metric, .by = share_of(options.by.empty() ? "20%" : options.by)};
  Mover mover(point, metric, out.by);
  const auto base = mover.base();
  const Metric& value = base->metrics.at(metric);
  out.name = base->name;
  out.unit = value.unit;
  out.number_class = value.number_class;
  out.base = value.value;
  out.run_id = base->run_id;
  out.rerun = run_command(point.scenario.string(), point.set);
  for (const NumberRecord& number : base->numbers) {
    auto row = mover.row(number.path, number.value, number.ci95);
    if (!row) {
      out.not_moved.push_back(number.path);
      continue;
    }
    row->number_class = number.number_class;
    row->source = number.source;
    out.rows.push_back(*std::move(row));
  }
  const bool step = !base->serving.has_value();
  const std::vector<std::string> factors =
      step ? std::vector<std::string>{"what_if.far_bandwidth", "what_if.far_latency"}
           : std::vector<std::string>{};
  for (const std::string& factor : factors) {
    const bool set = std::ranges::any_of(
        point.set, [&](const std::string& option) { return option.starts_with(factor); });
    if (set) continue;  // it is not 1 then: use --vary
    if (auto row = mover.row(factor, "1", std::nullopt)) out.rows.push_back(*std::move(row));
  }
  for (const std::string& text : options.vary) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
      throw Failure(
          ExitCode::usage,
          fmt::format("tiersim: error: --vary: '{}' does not say its value (step.batch=16)",
                      printable(text)));
    auto row = mover.row(text.substr(0, equals), text.substr(equals + 1), std::nullopt);
    if (!row)
      throw Failure(ExitCode::usage, fmt::format("tiersim: error: --vary: '{}' is no number and no "
                                                 "quantity that can be moved",
                                                 printable(text.substr(equals + 1))));
    out.rows.push_back(*std::move(row));
  }
  arrange(out);
  return out;
}

template <class Report>
ExitCode print(const Report& report, const SensitivityOptions& options) {
  if (!options.figure.empty()) write_figure(options.figure, to_svg(report));
  if (options.figure == "-") return ExitCode::ok;
  if (options.format == "json")
    fmt::print("{}", to_json(report));
  else
    print_tables({table_of(report)}, options.format);
  return ExitCode::ok;
}

// Records hold no scenario to run with another value, and sweeps have a verb of their own.
void expect_configuration(const std::string& source) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(source, none)) return;  // loading reports the mistake
  if (origin_of_record(read_file(source)))
    throw Failure(ExitCode::usage,
                  fmt::format("tiersim: error: {}: is a record, which cannot be varied; give its "
                              "configuration, or a store of points",
                              printable(source)));
}

ExitCode report_sensitivity(const SensitivityOptions& options) {
  expect_figure(options.figure);
  if (!options.by.empty()) share_of(options.by);
  if (!options.metric.empty()) full_metric(options.metric, "--metric");
  const std::vector<std::string>& sources = options.sources.sources;
  if (sources.size() == 1 && !SweepStore::is_store(sources.front())) {
    if (!options.sources.where.empty() || !options.sources.sweep.empty())
      throw Failure(ExitCode::usage,
                    "tiersim: error: --where and --sweep choose points of a store, and this is one "
                    "configuration");
    expect_configuration(sources.front());
    return print(tornado_of(options), options);
  }
  if (!options.vary.empty() || !options.by.empty())
    throw Failure(ExitCode::usage, "tiersim: error: --vary and --by are for one configuration");
  const PointTable table = load_points(options.sources, Evaluation::all);
  std::string metric = options.metric;
  if (metric.empty() && !table.objectives.empty()) metric = table.objectives.front().metric;
  const AxisEffects effects = effects_of(
      table,
      metric_of_points(table, metric.empty() ? "throughput_tokens_per_s" : metric, "--metric"));
  if (effects.axes.empty())
    throw Failure(ExitCode::usage,
                  "tiersim: error: no two points differ in one axis alone, so that nothing can be "
                  "said of any (a sample has no such pairs; a configuration can be varied: tiersim "
                  "report sensitivity CONFIG)");
  return print(effects, options);
}

}  // namespace

void add_report_sensitivity(Verb kind) {
  auto options = std::make_shared<SensitivityOptions>();
  kind.footer(
      "For one configuration the report changes every number that has a source, and the factors\n"
      "of what_if, one at a time: to the ends of its 95 % interval if it has one, else by --by. A\n"
      "count changes by one at least. Granules of hardware (powers of two up to 4 KiB) are halved\n"
      "and doubled. The report counts the numbers that have no effect. For a store it shows the\n"
      "range of the metric over each axis, with all other axes held, from the points of the\n"
      "store. Effects of parameters that act together do not appear.");
  add_sources(kind, options->sources);
  kind.added("SOURCE").help(
      "One configuration; or a sweep's store, or several points: FILE:POSITION, records");
  kind.option("--metric", options->metric,
              "Metric to examine (tpot, throughput, ttft.p99); by default the time of the step, "
              "the mean time of a token, or the first objective of the sweep")
      .type("METRIC");
  kind.option("--by", options->by,
              "Share by which numbers without an interval are changed; 20% by default")
      .type("SHARE");
  kind.option("--vary", options->vary,
              "Also change this setting, starting from the given value: step.batch=16 (repeatable)")
      .type(kSettingType);
  kind.option("--figure", options->figure, "Draw the report").type("FILE.svg|FILE.pdf");
  add_format(kind, options->format);
  kind.on_chosen([options] { return report_sensitivity(*options); });
}

}  // namespace tiersim::cli
