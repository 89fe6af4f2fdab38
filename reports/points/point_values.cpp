#include "reports/points/point_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/base/base_units.hpp"
#include "sim/base/display.hpp"
#include "sim/base/units_text.hpp"

namespace tiersim {
namespace {

template <class T>
bool parse(const std::string& text, std::string_view unit, LabelNumber& out) {
  const auto value = parse_quantity<T>(text);
  if (!value) return false;
  out.value = metric_units(*value);
  out.unit = unit;
  return true;
}

struct Steps {
  std::string_view unit;
  double first;  ///< the unit over the first name
  double step;
  std::array<std::string_view, 6> names;
};
constexpr std::array<Steps, 5> kSteps{{
    {"s", 1e9, 1000, {"ns", "us", "ms", "s"}},
    {"B", 1, 1024, {"B", "KiB", "MiB", "GiB", "TiB"}},
    {"B/s", 1, 1000, {"B/s", "KB/s", "MB/s", "GB/s", "TB/s"}},
    {"FLOP", 1, 1000, {"FLOP", "KFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"}},
    {"FLOP/s", 1, 1000, {"FLOP/s", "KFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"}},
}};

}  // namespace

std::optional<LabelNumber> number_of_label(const std::string& label) {
  LabelNumber out;
  const char* end = label.data() + label.size();
  const auto [stop, error] = std::from_chars(label.data(), end, out.value);
  if (error == std::errc() && stop == end && std::isfinite(out.value)) return out;
  if (parse<Bytes>(label, "B", out) || parse<Duration>(label, "s", out) ||
      parse<Bandwidth>(label, "B/s", out) || parse<FlopRate>(label, "FLOP/s", out) ||
      parse<Flops>(label, "FLOP", out) || parse<Energy>(label, "J", out) ||
      parse<Money>(label, "USD", out))
    return out;
  return std::nullopt;
}

const Metric* find_metric(const ReportPoint& point, const std::string& name) {
  if (!point.record) return nullptr;
  const auto it = point.record->metrics.find(name);
  return it == point.record->metrics.end() ? nullptr : &it->second;
}

std::optional<double> metric_value(const RunRecord& record, const std::string& name) {
  const auto it = record.metrics.find(name);
  return it == record.metrics.end() ? std::nullopt : std::optional(it->second.value);
}

std::span<const std::array<ReportObjective, 2>> usual_objectives() {
  static const std::array<std::array<ReportObjective, 2>, 5> pairs{
      {{{{"throughput_tokens_per_s", true}, {"kv_footprint_bytes", false}}},
       {{{"throughput_tokens_per_s", true}, {"tpot_s", false}}},
       {{{"goodput_requests_per_s", true}, {"ttft_s.p99", false}}},
       {{{"throughput_tokens_per_s", true}, {"tpot_s.p99", false}}},
       {{{"step_time_s", false}, {"kv_footprint_bytes", false}}}}};
  return pairs;
}

std::vector<std::string> metric_names(const PointTable& table) {
  std::set<std::string> out = table.left_out;
  for (const ReportPoint& point : table.points) {
    if (!point.record) continue;
    for (const auto& [name, metric] : point.record->metrics) out.insert(name);
  }
  return {out.begin(), out.end()};
}

std::string class_text(std::span<const Metric* const> metrics) {
  std::optional<NumberClass> all;
  for (const Metric* metric : metrics) {
    if (metric == nullptr) continue;
    if (all && *all != metric->number_class) return "mixed";
    all = metric->number_class;
  }
  return all ? std::string(name(*all)) : "";
}

ShownUnit shown_unit(std::string_view unit, double largest) {
  const auto* it = std::ranges::find(kSteps, unit, &Steps::unit);
  if (it == kSteps.end()) return {1, unit == "1" ? "" : std::string(unit)};
  double factor = it->first;
  std::size_t i = 0;
  while (i + 1 < it->names.size() && !it->names[i + 1].empty() &&
         std::abs(largest) * factor >= it->step) {
    factor /= it->step;
    ++i;
  }
  return {factor, std::string(it->names[i])};
}

std::string axis_label(const std::string& metric, const ShownUnit& unit) {
  std::string text = metric;
  for (const std::string_view suffix : {"_tokens_per_s", "_bytes", "_s", "_flops"}) {
    const std::size_t at = std::min(text.find('.'), text.size());
    if (!text.substr(0, at).ends_with(suffix)) continue;
    text.erase(at - suffix.size(), suffix.size());
    break;
  }
  std::ranges::replace(text, '_', ' ');
  return unit.name.empty() ? text : fmt::format("{} ({})", text, unit.name);
}

std::vector<MetricLimit> limits_of(const PointTable& table, const std::string& metric) {
  constexpr double kRounding = 1e-9;  // a limit of time is rounded to whole picoseconds
  std::vector<MetricLimit> out;
  for (const MetricLimit& limit : table.limits) {
    const auto same = [&](const MetricLimit& other) {
      return std::abs(other.value - limit.value) <= kRounding * std::abs(limit.value);
    };
    if (limit.is_of(metric) && std::ranges::none_of(out, same)) out.push_back(limit);
  }
  return out;
}

std::string limit_text(const MetricLimit& limit, const std::string& unit) {
  return limit.name + ' ' + display(limit.value, unit);
}

Cell cell_of(const Metric& metric) {
  std::string shown = display(metric.value, metric.unit);
  if (metric.ci95)
    shown += fmt::format(" [{}, {}]", display(metric.ci95->low, metric.unit),
                         display(metric.ci95->high, metric.unit));
  return {metric.value, std::move(shown)};
}

}  // namespace tiersim
