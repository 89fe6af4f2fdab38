#include "hwmodels/forms/surface.hpp"

#include <algorithm>
#include <cstddef>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {

double surface_at(const SurfaceRow& row, const std::vector<double>& coefficients) {
  double sum = 0;
  for (const auto& [column, weight] : row)
    sum += weight * coefficients[static_cast<std::size_t>(column)];
  return sum;
}

SurfaceRow hat_weights(double x, const std::vector<double>& knots) {
  TS_EXPECTS(knots.size() >= 2, knots.size());
  x = std::clamp(x, knots.front(), knots.back());
  std::size_t i = 0;
  while (i + 2 < knots.size() && x >= knots[i + 1]) ++i;
  const double share = (x - knots[i]) / (knots[i + 1] - knots[i]);
  return {{static_cast<int>(i), 1 - share}, {static_cast<int>(i) + 1, share}};
}

SurfaceRow tensor(const SurfaceRow& a, const SurfaceRow& b, int columns_b) {
  SurfaceRow out;
  for (const auto& [i, weight_i] : a)
    for (const auto& [j, weight_j] : b) out.add(i * columns_b + j, weight_i * weight_j);
  return out;
}

double log2_of(double x) {
  static const double log_of_2 = portable_log(2);
  return portable_log(x) / log_of_2;
}

}  // namespace tiersim
