#include "hwmodels/compute/power_cap.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace tiersim::power_cap_test {
namespace {

using namespace std::chrono_literals;

// Arithmetic alone for 1 ms at 1000 W, without static power.
PoweredKernel arithmetic() {
  return {.flop_joules = 1, .memory = 0ms, .compute = 1ms, .body = 1ms};
}
// Memory alone for 1 ms at 300 W, with 0.25 ms of arithmetic beside it.
PoweredKernel memory() {
  return {.memory_joules = 0.3, .flop_joules = 0.1, .memory = 1ms, .compute = 250us, .body = 1ms};
}
PowerNumbers numbers(double limit) {
  return {.limit = limit, .exponent = 3, .least_clock = 0.1};
}
double seconds(Duration time) {
  return static_cast<double>(time.count()) * 1e-12;
}

TEST(PowerCap, ALimitAboveThePowerChangesNothing) {
  const LimitedKernel k = PowerCap(numbers(1000)).limited(arithmetic());
  EXPECT_EQ(k.clock, 1);
  EXPECT_EQ(k.body, Duration(1ms));
}

TEST(PowerCap, ArithmeticFollowsTheCubeRootOfTheLimit) {
  // P(r) = 1000 W r^3, so an eighth of the power is half of the clock and twice the time.
  const LimitedKernel k = PowerCap(numbers(125)).limited(arithmetic());
  EXPECT_NEAR(k.clock, 0.5, 1e-11);
  EXPECT_NEAR(seconds(k.body), 2e-3, 1e-12);
}

TEST(PowerCap, StaticPowerTakesItsPartOfTheLimit) {
  PowerNumbers n = numbers(125 + 80 + 20.0 / 8);  // at half of the clock an eighth of 20 W
  n.idle = 80;
  n.active = 20;
  EXPECT_NEAR(PowerCap(n).limited(arithmetic()).clock, 0.5, 1e-11);
}

TEST(PowerCap, MemoryKeepsItsTimeUntilItsArithmeticIsLonger) {
  // P(r) = 300 W + 100 W r^2 while r is at least 0.25.
  const LimitedKernel half = PowerCap(numbers(325)).limited(memory());
  EXPECT_NEAR(half.clock, 0.5, 1e-11);
  EXPECT_EQ(half.body, Duration(1ms));
  // Below: t = 0.25 ms / r, so P = (0.3 J + 0.1 J r^2) r / 0.25 ms; at r = 0.125 that is 150.78 W.
  const LimitedKernel eighth = PowerCap(numbers(150.78125)).limited(memory());
  EXPECT_NEAR(eighth.clock, 0.125, 1e-11);
  EXPECT_NEAR(seconds(eighth.body), 2e-3, 1e-12);
}

TEST(PowerCap, BelowTheLowestClockTheKernelWaits) {
  // At r = 0.1: 0.3 J + 0.001 J over 2.5 ms are 120.4 W; at 60.2 W it takes twice the time.
  const LimitedKernel k = PowerCap(numbers(60.2)).limited(memory());
  EXPECT_EQ(k.clock, 0.1);
  EXPECT_NEAR(seconds(k.body), 5e-3, 1e-12);
}

TEST(PowerCap, OverheadOfAKernelScalesWithTheRoofline) {
  // A body of 1.5 times its arithmetic stays 1.5 times that.
  PoweredKernel k = arithmetic();
  k.body = 1500us;
  const LimitedKernel slow = PowerCap(numbers(125 / 1.5)).limited(k);
  EXPECT_NEAR(slow.clock, 0.5, 1e-11);
  EXPECT_NEAR(seconds(slow.body), 3e-3, 1e-12);
}

TEST(PowerCap, ALowerLimitIsNeverFasterAndIsKept) {
  for (const double compute : {0.05, 0.3, 0.9, 1.0, 1.4})
    for (const double launch : {0.0, 0.01}) {
      PoweredKernel k{.memory_joules = 0.2,
                      .flop_joules = compute * 0.6,
                      .launch = Duration(static_cast<std::int64_t>(launch * 1e9)),
                      .memory = 1ms,
                      .compute = Duration(static_cast<std::int64_t>(compute * 1e9))};
      k.body = std::max(k.memory, k.compute);
      Duration last{};
      for (double limit = 900; limit > 110; limit -= 10) {
        PowerNumbers n = numbers(limit);
        n.idle = 70;
        n.active = 130;
        const PowerCap cap(n);
        const LimitedKernel slow = cap.limited(k);
        EXPECT_GE(slow.body, last) << compute << ' ' << limit;
        last = slow.body;
        const double joules = 0.2 + slow.flop_joules;
        const double watts =
            70 + 130 * cap.active_share(slow.clock) + joules / (seconds(slow.body) + launch * 1e-3);
        EXPECT_LE(watts, std::max(limit, 0.0) * (1 + 1e-9)) << compute << ' ' << limit;
      }
    }
}

TEST(PowerCap, EnergyFallsWithTheLimitAndThenRises) {
  // E(r) = (100 W + 100 W r^3) 1 ms / r + 0.5 J r^2 has its least value inside.
  const auto energy = [](double limit) {
    PowerNumbers n = numbers(limit);
    n.idle = 100;
    n.active = 100;
    const PowerCap cap(n);
    PoweredKernel half = arithmetic();
    half.flop_joules = 0.5;
    const LimitedKernel k = cap.limited(half);
    return (100 + 100 * cap.active_share(k.clock)) * seconds(k.body) + k.flop_joules;
  };
  EXPECT_LT(energy(300), energy(700));
  EXPECT_LT(energy(300), energy(105));
}

TEST(PowerCap, ALimitCountsFromTheBoardsOwnPower) {
  // 1000 W of arithmetic on a board of 700 W: at 700 W it runs as it was measured, and an eighth of
  // that is half of the clock.
  PowerNumbers n{.limit = 700, .board = 700, .exponent = 3, .least_clock = 0.1};
  EXPECT_EQ(PowerCap(n).limited(arithmetic()).clock, 1);
  n.limit = 87.5;
  EXPECT_NEAR(PowerCap(n).limited(arithmetic()).clock, 0.5, 1e-11);
}

}  // namespace
}  // namespace tiersim::power_cap_test
