#include "hwmodels/compute/power_cap.hpp"

#include <algorithm>

#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

// Seconds at a clock, without the launch.
double body_at(const PoweredKernel& kernel, double clock) {
  const double compute = to_seconds(kernel.compute);
  const double longer = std::max(to_seconds(kernel.memory), compute);
  const double body = to_seconds(kernel.body);
  return longer > 0 ? body * std::max(1.0, compute / clock / longer) : body;
}

Duration rounded_up(double seconds) {
  const double ps = seconds * static_cast<double>(kPicosecondsPerSecond);
  if (ps >= 9.2e18) throw UnitOverflow();
  const auto whole = static_cast<std::int64_t>(ps);
  return Duration(static_cast<double>(whole) < ps ? whole + 1 : whole);
}

}  // namespace

double PowerCap::flop_energy(double clock) const {
  return portable_pow(clock, numbers_.exponent - 1);
}

double PowerCap::active_share(double clock) const {
  return portable_pow(clock, numbers_.exponent);
}

double PowerCap::power(const PoweredKernel& kernel, double clock) const {
  const double work = kernel.memory_joules + kernel.flop_joules * flop_energy(clock);
  return numbers_.idle + numbers_.active * active_share(clock) +
         work / (to_seconds(kernel.launch) + body_at(kernel, clock));
}

LimitedKernel PowerCap::limited(const PoweredKernel& kernel) const {
  if (kernel.body == Duration{}) return {1, kernel.body, kernel.flop_joules};
  const double most = numbers_.limit * std::max(1.0, power(kernel, 1) / numbers_.board);
  if (power(kernel, 1) <= most) return {1, kernel.body, kernel.flop_joules};
  const auto at = [&](double clock, Duration body) {
    return LimitedKernel{clock, body, kernel.flop_joules * flop_energy(clock)};
  };
  double low = numbers_.least_clock;
  if (power(kernel, low) > most) {
    const double spare = most - numbers_.idle - numbers_.active * active_share(low);
    if (spare <= 0) throw UnitOverflow();  // a number that was drawn from its interval
    const double work = kernel.memory_joules + kernel.flop_joules * flop_energy(low);
    return at(low, rounded_up(work / spare - to_seconds(kernel.launch)));
  }
  double high = 1;
  constexpr int kHalvings = 40;  // to 1e-12 of the clock
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (power(kernel, middle) <= most ? low : high) = middle;
  }
  return at(low, std::max(kernel.body, rounded_up(body_at(kernel, low))));
}

}  // namespace tiersim
