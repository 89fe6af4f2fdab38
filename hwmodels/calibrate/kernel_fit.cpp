#include "hwmodels/calibrate/kernel_fit.hpp"

#include <algorithm>

#include "sim/base/portable_math.hpp"

namespace tiersim {

double kernel_time(const KernelParameters& parameters, const KernelPoint& point) {
  double memory = 0;
  if (point.bytes > 0) {
    memory = point.bytes / parameters.bandwidth;
    if (point.bytes_in_flight > 0 && parameters.latency > 0)
      memory = std::max(memory, point.bytes * parameters.latency / point.bytes_in_flight);
  }
  const double compute = point.flops > 0 ? point.flops * point.tail / parameters.peak : 0;
  const double more = std::max(memory, compute);
  const double less = std::min(memory, compute);
  if (less <= 0) return parameters.t0 + more;
  const double exponent = parameters.sharpness * portable_log(less / more);
  if (exponent < -40) return parameters.t0 + more;  // adds less than 2^-57 of it
  return parameters.t0 +
         more * portable_exp(portable_log(1 + portable_exp(exponent)) / parameters.sharpness);
}

}  // namespace tiersim
