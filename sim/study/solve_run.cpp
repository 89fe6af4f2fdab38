#include "sim/study/solve_run.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/base_units.hpp"
#include "sim/base/check.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"
#include "sim/record/metric_names.hpp"
#include "sim/record/metrics.hpp"
#include "sim/runner/load.hpp"
#include "sim/runner/solve.hpp"

namespace tiersim {
namespace {

template <class T>
Expected<double> in_metric_units(const std::string& text) {
  const auto value = parse_quantity<T>(text);
  if (!value) return Unexpected(value.error());
  return metric_units(*value);
}

// Parses a metric without dimension as a number, with its unit or without.
Expected<double> plain_metric(const std::string& text, std::string_view unit) {
  std::string number = text;
  if (const std::string suffix = ' ' + std::string(unit); number.ends_with(suffix))
    number.resize(number.size() - suffix.size());
  if (const auto value = plain_number(number)) return *value;
  return Unexpected(fmt::format("'{}' is no number{}", text,
                                unit == "1" ? "" : fmt::format(" (its unit is {})", unit)));
}

Expected<double> parse_metric(const std::string& text, std::string_view unit) {
  if (unit == "s") return in_metric_units<Duration>(text);
  if (unit == "B") return in_metric_units<Bytes>(text);
  if (unit == "FLOP") return in_metric_units<Flops>(text);
  if (unit == "J") return in_metric_units<Energy>(text);
  if (unit == "USD") return in_metric_units<Money>(text);
  return plain_metric(text, unit);
}

constexpr std::array<const char*, 3> kOutcomes{"found", "beyond", "flat"};

Point at(Point point, const SettingRange& range, double x) {
  point.set.push_back(range.option(x));
  return point;
}

}  // namespace

std::string full_metric(const std::string& metric) {
  auto full = resolve_metric(metric);
  if (full) return *std::move(full);
  throw Failure(ExitCode::usage, printable("tiersim: error: " + full.error()));
}

Expected<double> metric_value(const std::string& metric, const std::string& text) {
  const MetricDefinition* known = find_metric(metric);
  TS_EXPECTS(known != nullptr, metric);
  auto value = parse_metric(text, known->unit);
  if (!value) return Unexpected(fmt::format("{} of {}", value.error(), metric));
  return value;
}

PointResult run_point(PointRunner& runner, const Point& point, Evaluation evaluation) {
  Diagnostics diagnostics;
  PointResult result = runner.run(point, evaluation, diagnostics);
  throw_if_any(diagnostics);
  return result;
}

double metric_of(const RunRecord& record, const std::string& metric, const Point& point) {
  const auto it = record.metrics.find(metric);
  if (it != record.metrics.end()) return it->second.value;
  throw Failure(
      ExitCode::bad_config,
      fmt::format("{}:1:1: error: a record of it has no metric '{}' (a decode step has "
                  "tpot_s, a prefill ttft_s, a server ttft_s.p99; energy and cost need every "
                  "device's numbers)",
                  point.scenario.string(), metric));
}

Expected<SettingRange> range_of(PointRunner& runner, Point point, const std::string& vary,
                                const std::string& low, const std::string& high) {
  point.set.push_back(vary + '=' + low);
  return SettingRange::parse(vary, low, high, runner.takes_whole_numbers(point, vary));
}

SolveAnswer answer(PointRunner& runner, const Point& point, const SettingRange& range,
                   const std::string& metric, double target) {
  const auto probe = [&](double x) -> Expected<double> {
    const Point there = at(point, range, x);
    const PointResult result = run_point(runner, there, Evaluation::times);
    if (!result.record)
      return Unexpected(fmt::format("at {}={}: {}", range.key(), range.text(x), result.problem));
    return metric_of(*result.record, metric, there);
  };
  const auto solution = solve(probe, target, range.range());
  SolveAnswer out;
  out.target = target;
  if (!solution) {
    out.outcome = "cannot run";
    out.problem = solution.error();
    return out;
  }
  out.outcome = kOutcomes[static_cast<std::size_t>(solution->outcome)];
  out.value = range.text(solution->x);
  out.display = range.display(solution->x);
  out.metric = solution->metric;
  if (solution->next)
    out.next = SolveAnswer::Next{range.text(solution->next->x), solution->next->metric};
  out.rises = solution->rises;
  out.monotone = solution->monotone;
  out.evaluations = solution->evaluations;
  out.searched = {range.display(solution->low), range.display(solution->high)};
  out.left_out = solution->left_out;
  out.record = run_point(runner, at(point, range, solution->x)).record;
  out.unit = out.record->metrics.at(metric).unit;
  return out;
}

}  // namespace tiersim
