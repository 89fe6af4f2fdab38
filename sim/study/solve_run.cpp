#include "sim/study/solve_run.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/base_units.hpp"
#include "sim/base/check.hpp"
#include "sim/base/display.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"
#include "sim/record/metrics.hpp"
#include "sim/runner/load.hpp"
#include "sim/runner/solve.hpp"
#include "sim/study/point_means.hpp"

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

Point with(Point point, std::string option) {
  point.set.push_back(std::move(option));
  return point;
}

const ScenarioConfig& scenario_of(const Runnable& config) {
  const auto* server = std::get_if<ServingConfig>(&config);
  return server != nullptr ? server->scenario : std::get<ScenarioConfig>(config);
}

// The channels whose capacity differs, the narrowest first.
std::vector<DeviceValue> changed_channels(const System& from, const System& to, double factor) {
  std::vector<std::size_t> scaled;
  for (std::size_t c = 0; c < from.channels().size(); ++c)
    if (from.channels()[c].capacity != to.channels()[c].capacity) scaled.push_back(c);
  std::ranges::stable_sort(scaled, {}, [&](std::size_t c) { return from.channels()[c].capacity; });
  std::vector<DeviceValue> out;
  for (const std::size_t c : scaled)
    out.push_back({.name = from.channels()[c].name,
                   .value = display(to.channels()[c].capacity),
                   .factor = factor,
                   .base = display(from.channels()[c].capacity)});
  return out;
}

// The value at a dotted key of canonical JSON, of a number with a source that number itself.
std::string text_at(const std::string& canonical, const std::string& key) {
  const auto root = nlohmann::json::parse(canonical);
  const nlohmann::json* at = &root;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    const std::string part = key.substr(begin, end - begin);
    if (!at->is_object() || !at->contains(part)) return "";
    at = &(*at)[part];
    begin = end + 1;
  }
  if (at->is_object() && at->contains("value")) at = &(*at)["value"];
  return at->is_string() ? at->get<std::string>() : at->is_number() ? at->dump() : "";
}

}  // namespace

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
  // "tpot" is tpot_s of a step, and several statistics of a server.
  const std::string stem = metric.substr(0, metric.find('.'));
  std::vector<std::string> near;
  for (const auto& [name, value] : record.metrics)
    if (name.substr(0, name.find('.')) == stem) near.push_back(name);
  throw Failure(ExitCode::bad_config,
                fmt::format("{}:1:1: error: a record of it has no metric '{}' ({})",
                            point.scenario.string(), metric,
                            near.empty() ? "a decode step has tpot_s, a prefill ttft_s, a server "
                                           "ttft_s.p99; energy and cost need every device's numbers"
                                         : "it has: " + join(near)));
}

Expected<SettingRange> range_of(PointRunner& runner, Point point, const std::string& vary,
                                const std::string& low, const std::string& high) {
  point.set.push_back(vary + '=' + low);
  return SettingRange::parse(vary, low, high, runner.takes_whole_numbers(point, vary));
}

std::vector<DeviceValue> device_values(PointRunner& runner, const Point& point,
                                       const SettingRange& range, const std::string& value) {
  const std::string& key = range.key();
  if (key == "what_if.far_bandwidth") {
    const Runnable one = runner.config(with(point, key + "=1"));
    const Runnable there = runner.config(with(point, key + '=' + value));
    return changed_channels(build_system(scenario_of(one)), build_system(scenario_of(there)),
                            scenario_of(there).what_if.far_bandwidth);
  }
  if (range.range().unit_exponent != 0 || range.range().whole) return {};  // a plain number
  const auto base = range.number(text_at(canonical_json(runner.config(point)), key));
  const auto there = range.number(value);
  if (!base || !there || *base <= 0) return {};
  return {{.name = key,
           .value = range.display(*there),
           .factor = *there / *base,
           .base = range.display(*base)}};
}

SolveAnswer answer(PointRunner& runner, const Point& point, const SettingRange& range,
                   const std::string& metric, double target, std::int64_t seeds) {
  PointMeans means(runner, point, seeds);
  const auto probe = [&](double x) -> Expected<double> {
    const auto results = means.run(range.option(x));
    if (!results) return Unexpected(results.error());
    return means.mean(*results, metric).mean;
  };
  const auto solution = solve(probe, target, range.range(means.of_server()));
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
  for (const auto& [from, to] : solution->holding)
    out.holding.push_back({range.display(from), range.display(to)});
  out.searched = {range.display(solution->low), range.display(solution->high)};
  out.left_out = solution->left_out;
  const auto results = means.run(range.option(solution->x));
  if (results) {  // as it was for its times
    const SeedMean there = means.mean(*results, metric);
    out.record = results->front().record;
    out.unit = there.unit;
    if (seeds > 1) out.ci95 = there.ci95;
  }
  return out;
}

}  // namespace tiersim
