#include "reports/html/shown_metric.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sim/base/display.hpp"

namespace tiersim {
namespace {

struct Shown {
  double factor = 1;  // times the value, or its inverse
  bool inverse = false;
  std::string unit = {};  // of display(); empty where the title has it
};

Shown shown(const PointTable& table, const MetricColumn& metric, std::size_t point) {
  const auto& record = table.points[point].record;
  const std::int64_t all = record ? record->gpus + record->ffn_gpus.value_or(0) : 0;
  const double gpus = all > 0 ? static_cast<double>(all) : 1;
  if (metric.name == "throughput_tokens_per_s") return {.factor = 1 / gpus};
  if (metric.name == "energy_j_per_token") return {.inverse = true};
  if (metric.name == "cost_usd_per_mtoken") return {};
  return {.unit = metric.unit};
}

// Three digits: "0.0123", "12.3", "12300".
std::string three_digits(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value) || size < 1e-3) return fmt::format("{:.3g}", value);
  if (size < 10) return fmt::format("{:.3g}", value);
  if (size < 100) return fmt::format("{:.1f}", value);
  double unit = 1;
  while (size / unit >= 1000) unit *= 10;
  return fmt::format("{:.0f}", std::round(value / unit) * unit);
}

}  // namespace

std::string shown_title(const MetricColumn& metric) {
  if (metric.name == "throughput_tokens_per_s") return "tokens/s a GPU";
  if (metric.name == "energy_j_per_token") return "tokens/J";
  if (metric.name == "cost_usd_per_mtoken") return "USD/Mtoken";
  return metric.name;
}

std::string shown_value(const PointTable& table, const MetricColumn& metric, std::size_t point) {
  if (std::isnan(metric.values[point])) return "";
  const Shown as = shown(table, metric, point);
  const auto text = [&](double value) {
    const double x = as.inverse ? 1 / value : as.factor * value;
    return as.unit.empty() ? three_digits(x) : display(x, as.unit);
  };
  if (metric.low.empty() || std::isnan(metric.low[point])) return text(metric.values[point]);
  double low = metric.low[point];
  double high = metric.high[point];
  if (as.inverse) std::swap(low, high);
  return fmt::format("{} [{}, {}]", text(metric.values[point]), text(low), text(high));
}

}  // namespace tiersim
