#include <math.h>  // NOLINT(*-deprecated-headers): Boost 1.74 calls isnan without std::

#include <boost/math/interpolators/pchip.hpp>

#include "hwmodels/calibrate/kernel_fit.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {

double through_table(const std::vector<TimeKnot>& table, double modelled) {
  if (table.empty() || modelled <= 0) return modelled;
  const TimeKnot& first = table.front();
  const TimeKnot& last = table.back();
  if (modelled <= first.modelled) return modelled * (first.measured / first.modelled);
  if (modelled >= last.modelled) return modelled * (last.measured / last.modelled);
  std::vector<double> x;
  std::vector<double> y;
  for (const TimeKnot& knot : table) {
    x.push_back(portable_log(knot.modelled));
    y.push_back(portable_log(knot.measured));
  }
  const boost::math::interpolators::pchip<std::vector<double>> curve(std::move(x), std::move(y));
  return portable_exp(curve(portable_log(modelled)));
}

}  // namespace tiersim
