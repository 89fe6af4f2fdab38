// A table where the expansion is not exact enough, and beyond it the Cornish-Fisher expansion of
// the normal quantile (Abramowitz and Stegun, 26.7.5).
#include "sim/base/student_t.hpp"

#include <array>
#include <cstddef>

#include "sim/base/check.hpp"

namespace tiersim {

double student_t_975(std::int64_t degrees) {
  TS_EXPECTS(degrees >= 1, degrees);
  constexpr std::array kTable{12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060};
  if (degrees <= static_cast<std::int64_t>(kTable.size()))
    return kTable[static_cast<std::size_t>(degrees - 1)];
  const double z = 1.959964;  // of the normal distribution
  const auto n = static_cast<double>(degrees);
  const double g1 = (z * z * z + z) / 4;
  const double g2 = (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / 96;
  const double g3 =
      (3 * z * z * z * z * z * z * z + 19 * z * z * z * z * z + 17 * z * z * z - 15 * z) / 384;
  return z + g1 / n + g2 / (n * n) + g3 / (n * n * n);
}

}  // namespace tiersim
