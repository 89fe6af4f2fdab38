#include "hwmodels/forms/blend.hpp"

#include <algorithm>

#include "sim/base/portable_math.hpp"

namespace tiersim {

double blend(double a, double b, double p) {
  const double more = std::max(a, b);
  const double less = std::min(a, b);
  if (less <= 0) return more;
  const double exponent = p * portable_log(less / more);
  if (exponent < -40) return more;  // the smaller term adds less than 2^-57 of the larger
  return more * portable_exp(portable_log(1 + portable_exp(exponent)) / p);
}

}  // namespace tiersim
