#include "reports/render/axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace tiersim {

void AxisRange::add(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

bool is_wide(const AxisRange& values) {
  constexpr double kFactor = 16;
  return values.low > 0 && values.high >= kFactor * values.low;
}

double tick_step(double range) {
  const double least = range / 5;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

AxisRange with_ticks(AxisRange values) {
  if (values.empty()) return {0, 1};
  values.add(0);
  if (values.low == values.high) values.high = values.low + 1;
  const double step = tick_step(values.high - values.low);
  return {step * std::floor(values.low / step + 1e-9), step * std::ceil(values.high / step - 1e-9)};
}

std::string decimal_label(double value, double largest) {
  if (value != 0 && largest >= 1e7) return fmt::format("{:.6g}M", value / 1e6);
  if (value != 0 && largest >= 1e4) return fmt::format("{:.6g}k", value / 1e3);
  return fmt::format("{:.6g}", value);
}

std::string_view dash_of(std::size_t i) {
  constexpr std::array<std::string_view, 4> kDashes{"", "7 3", "2 3", "8 3 2 3"};
  return kDashes[i % kDashes.size()];
}

}  // namespace tiersim
