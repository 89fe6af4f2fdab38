#include "reports/render/value_axis.hpp"

#include <cmath>

namespace tiersim {
namespace {

constexpr double kLogFrom = 30;  // largest over smallest value

}  // namespace

ValueAxis::ValueAxis(AxisRange values) {
  if (values.empty()) values = {0, 1};
  log_ = values.low > 0 && values.high > kLogFrom * values.low;
  if (log_)
    decades(values);
  else
    linear(values);
}

void ValueAxis::linear(AxisRange values) {
  if (values.low >= 0 && values.low < values.high / 2) values.low = 0;
  if (values.low == values.high) {
    const double around = values.low == 0 ? 1 : std::abs(values.low) / 2;
    values = {values.low - around, values.high + around};
  }
  const double step = tick_step(values.high - values.low);
  const double first = std::floor(values.low / step + 1e-9);
  const double last = std::ceil(values.high / step - 1e-9);
  low_ = first * step;
  high_ = last * step;
  for (double i = first; i <= last; ++i)
    ticks_.push_back({i * step, decimal_label(i * step, std::max(std::abs(low_), high_))});
}

void ValueAxis::decades(AxisRange values) {
  const double first = std::floor(std::log10(values.low) + 1e-9);
  const double last = std::ceil(std::log10(values.high) - 1e-9);
  low_ = std::pow(10, first);
  high_ = std::pow(10, last);
  // Steps of 1, 2 or 5 from below the lowest value to above the highest.
  double from = low_;
  double to = high_;
  for (double decade = first; decade <= last; ++decade)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10, decade);
      if (value <= values.low * (1 + 1e-9)) from = value;
      if (value >= values.high * (1 - 1e-9)) to = std::min(to, value);
      const bool labelled = factor == 1.0 || last - first < 3;
      ticks_.push_back({value, labelled ? decimal_label(value, value) : ""});
    }
  low_ = from;
  high_ = to;
  std::erase_if(ticks_, [&](const Tick& tick) { return tick.value < low_ || tick.value > high_; });
}

double ValueAxis::place(double value) const {
  if (log_) return std::log(value / low_) / std::log(high_ / low_);
  return (value - low_) / (high_ - low_);
}

}  // namespace tiersim
