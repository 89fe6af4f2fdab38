#include "hwmodels/calibrate/fit/kernel_fit.hpp"

#include <algorithm>

#include "sim/base/portable_math.hpp"

namespace tiersim {

double memory_time(const KernelParameters& parameters, const KernelPoint& point) {
  if (point.bytes <= 0) return 0;
  const double by_rate = point.bytes / parameters.bandwidth;
  if (point.bytes_in_flight <= 0 || parameters.latency <= 0) return by_rate;
  return std::max(by_rate, point.bytes * parameters.latency / point.bytes_in_flight);
}

double kernel_time(const KernelParameters& parameters, const KernelPoint& point) {
  const double compute = point.flops > 0 ? point.flops * point.tail / parameters.peak : 0;
  return parameters.t0 + blend(memory_time(parameters, point), compute, parameters.sharpness);
}

}  // namespace tiersim
