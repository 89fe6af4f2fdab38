#include "sim/cli/solving.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"
#include "sim/cli/loading.hpp"
#include "sim/run/metrics.hpp"
#include "sim/run/solve.hpp"

namespace tiersim::cli {
namespace {

template <class T>
std::optional<double> in_metric_units(const std::string& text) {
  const auto value = parse_quantity<T>(text);
  if (!value) return std::nullopt;
  if constexpr (std::is_same_v<T, Duration>)
    return to_seconds(*value);
  else if constexpr (std::is_same_v<T, Energy>)
    return to_joules(*value);
  else if constexpr (std::is_same_v<T, Money>)
    return to_usd(*value);
  else
    return static_cast<double>(value->in_base());
}

template <class... T>
struct Quantities {
  static std::optional<double> parse(const std::string& text) {
    std::optional<double> found;
    (void)((found = in_metric_units<T>(text)) || ...);
    return found;
  }
};

constexpr std::array<const char*, 3> kOutcomes{"found", "beyond", "flat"};

Point at(Point point, const SettingRange& range, double x) {
  point.set.push_back(range.option(x));
  return point;
}

}  // namespace

void expect_metric(const std::string& metric) {
  std::vector<std::string> names;
  for (const MetricDefinition& known : kMetrics) names.emplace_back(known.name);
  if (std::ranges::find(names, metric) != names.end()) return;
  const auto near = nearest(metric, names);
  throw Failure(ExitCode::usage,
                fmt::format("tiersim: error: there is no metric '{}' ({})", metric,
                            near.empty() ? "`tiersim list metrics` names them"
                                         : fmt::format("did you mean '{}'?", near)));
}

double metric_value(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && stop == end) return value;
  if (const auto quantity = WithQuantities<Quantities>::parse(text)) return *quantity;
  throw Failure(ExitCode::usage,
                fmt::format("tiersim: error: '{}' is no number and no quantity (\"50 ms\")", text));
}

PointResult run_point(PointRunner& runner, const Point& point, Readings readings) {
  Diagnostics diagnostics;
  PointResult result = runner.run(point, readings, diagnostics);
  throw_if_any(diagnostics);
  return result;
}

double metric_of(const RunRecord& record, const std::string& metric, const Point& point) {
  const auto it = record.metrics.find(metric);
  if (it != record.metrics.end()) return it->second.value;
  throw Failure(
      ExitCode::bad_config,
      fmt::format("{}:1:1: error: a record of it has no metric '{}' (a decode step has "
                  "tpot_s, a prefill ttft_s; energy and cost need every device's numbers)",
                  point.scenario.string(), metric));
}

SolveAnswer answer(PointRunner& runner, const Point& point, const SettingRange& range,
                   const std::string& metric, double target) {
  const auto probe = [&](double x) -> Expected<double> {
    const Point there = at(point, range, x);
    const PointResult result = run_point(runner, there);
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
  out.monotone = solution->monotone;
  out.evaluations = solution->evaluations;
  out.record = run_point(runner, at(point, range, solution->x)).record;
  out.unit = out.record->metrics.at(metric).unit;
  return out;
}

}  // namespace tiersim::cli
