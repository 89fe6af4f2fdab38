#pragma once
// Model card: power of a GPU under load, and a limit on it (fidelity: analytic)
//   Models    the clock that a GPU falls to while a kernel would take more power than its limit.
//   Equation  at a share r of the highest clock a kernel of F FLOPs and B bytes takes
//             t(r) = launch + body * max(1, (c / r) / max(m, c)),
//             P(r) = idle + active r^a + (e_B B + e_F F r^(a-1)) / t(r),
//             with c its time of arithmetic and m that of its memory accesses at r = 1, and a the
//             exponent. r is the highest one with P(r) <= limit * max(1, P(1) / board power), by
//             bisection: times were measured on boards that keep their own power on average, so a
//             kernel that is above it for a moment may be above a limit by the same factor. Power
//             of what the clock drives goes with f V^2, so a is 3 where voltage follows the clock,
//             and 1 where it does not. The memory has a clock of its own: B bytes take m and e_B B
//             at any r. Where P is too high even at the lowest clock, the kernel takes as long as
//             brings its mean power down.
//   Ignores   averages: a controller looks at milliseconds, and a kernel takes less. So a step that
//             as a whole keeps the limit is slowed here by those of its kernels that would not.
//             Steps of the clock, temperature, ageing, differences between cards, caches that slow
//             down with the clock, the launch, and collectives, which are never slowed. All types
//             of arithmetic take the same energy a FLOP.
//   Valid     limits between the power at the lowest clock without work and the board power.
//   Source    P ~ f V^2: any text on CMOS. The exponent's own source stands in the device's file.
//   Checked   tests/unit/hwmodels/power_cap_test.cpp, tests/unit/step/power_limit_test.cpp
#include <limits>

#include "sim/base/units.hpp"

namespace tiersim {

/// Powers in watts, the clock as a share of the highest.
struct PowerNumbers {
  double limit = std::numeric_limits<double>::infinity();
  double board = std::numeric_limits<double>::infinity();
  double idle = 0;
  double active = 0;
  double exponent = 1;
  double least_clock = 1;
};

/// A kernel at the highest clock.
struct PoweredKernel {
  double memory_joules = 0;
  double flop_joules = 0;
  Duration launch{};
  Duration memory{};
  Duration compute{};
  Duration body{};
};

struct LimitedKernel {
  double clock = 1;
  Duration body{};
  double flop_joules = 0;  ///< of its arithmetic, at this clock
};

class PowerCap {
 public:
  explicit PowerCap(const PowerNumbers& numbers) : numbers_(numbers) {}

  /// The kernel at the highest clock that keeps the limit; as fast as before where the highest one
  /// does.
  LimitedKernel limited(const PoweredKernel& kernel) const;
  /// The energy of a FLOP at a clock, over that at the highest one.
  double flop_energy(double clock) const;
  /// The active power at a clock, over that at the highest one.
  double active_share(double clock) const;
  /// Mean power of the kernel at a clock, W.
  double power(const PoweredKernel& kernel, double clock) const;

 private:
  PowerNumbers numbers_;
};

}  // namespace tiersim
