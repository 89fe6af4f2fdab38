#include "hwmodels/calibrate/read/order_statistics.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace tiersim {

double quantile_of(std::vector<double> values, double share) {
  TS_EXPECTS(!values.empty() && share >= 0 && share <= 1, values.size(), share);
  std::ranges::sort(values);
  const double position = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double part = position - static_cast<double>(below);
  // Half the sum gives the same bits from either side, which an interpolated step does not.
  if (part == 0.5) return (values[below] + values[above]) / 2;
  return values[below] + part * (values[above] - values[below]);
}

}  // namespace tiersim
