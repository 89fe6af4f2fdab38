// The power limit of a GPU in the plans of its operations, in energy and in the record's classes.
#include <gtest/gtest.h>

#include "sim/step/costs.hpp"
#include "tests/unit/step/small_system.hpp"

namespace tiersim::power_limit_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

template <class T>
Sourced<T> of(std::int64_t base) {
  return {.value = T::from_base(base), .number_class = NumberClass::fitted, .source = "test"};
}

// 1 TFLOP/s at 100 pJ/FLOP: 100 W of arithmetic; idle 10 W, working 5 W; HBM 100 GB/s at 100 pJ/B:
// 10 W.
SystemConfig with_power(std::optional<std::int64_t> limit_watts, double exponent) {
  SystemConfig c = testing::small_system();
  c.gpu.costs.energy_per_flop = of<EnergyPerFlop>(100'000'000);
  c.gpu.costs.idle_power = of<Power>(10'000);
  c.tiers["hbm"].memory.costs.energy_per_byte = of<EnergyPerByte>(100'000);
  c.gpu.power.active_power = of<Power>(5'000);
  c.gpu.power.power_exponent = {.value = exponent};
  c.gpu.power.least_clock = {.value = 0.1};
  if (limit_watts) c.gpu.power.power_limit = Power::from_base(*limit_watts * 1000);
  return c;
}

TEST(PowerLimit, ArithmeticTakesAsLongAsItsEnergyAtTheLimit) {
  // With exponent 1 the energy is 0.1 J at any clock. In t of 2 ms, launch included, that is 50 W;
  // static power is 10 W and 5 W times the clock, which is 1 ms over the 1.999 ms of the body.
  const double at = 10 + 5 * (1.0 / 1.999) + 50;
  SystemConfig c = with_power(1, 1);
  c.gpu.power.power_limit = Power::from_base(static_cast<std::int64_t>(at * 1000));  // mW, rounded
  const System system(c);
  const OpPlan plan = system.plan(testing::kernel(system, 0_B, 1_GFLOP));
  EXPECT_NEAR(to_seconds(plan.uncontended(system.channels())), 2e-3, 2e-3 * 1e-4);
  EXPECT_EQ(plan.powered_flops, 1_GFLOP);
  EXPECT_NEAR(plan.active_share, 1 / 1.999, 1e-4);
}

TEST(PowerLimit, MemoryIsNotSlowed) {
  // 1 MB in 10 us at 10 W and 15 W of static power keep 26 W.
  const System free(with_power({}, 3));
  const System limited(with_power(26, 3));
  const auto time = [](const System& system) {
    return system.plan(testing::kernel(system, 1'000'000_B, Flops{}))
        .uncontended(system.channels());
  };
  EXPECT_EQ(time(limited), time(free));
}

TEST(PowerLimit, ALowerClockTakesLessEnergyForAFlop) {
  // P(r) = 10 W + (5 W + 100 W) r^3 for a long kernel: 23.125 W is half of the clock.
  SystemConfig c = with_power(1, 3);
  c.gpu.power.power_limit = Power::from_base(23'125);
  const System system(c);
  StepGraph graph = testing::empty_graph(system);
  graph.add(testing::kernel(system, 0_B, 1'000_GFLOP));  // 1 s: the launch takes a millionth
  const Accounting a = account(graph, system, system.plan(graph));
  EXPECT_NEAR(static_cast<double>(a.work[0].flops.in_base()) / 250e9, 1, 1e-5);
  EXPECT_NEAR(to_seconds(a.work[0].active), 2.0 / 8, 1e-5);
  EXPECT_EQ(a.flops, 1'000_GFLOP);
  const StepCosts costs = costs_of(c, system, a, Duration(2s));
  EXPECT_NEAR(*costs.joules, 2 * 23.125, 1e-3);  // the limit over its two seconds
}

TEST(PowerLimit, WithoutALimitWorkTakesActivePowerForItsTime) {
  const SystemConfig c = with_power({}, 3);
  const System system(c);
  StepGraph graph = testing::empty_graph(system);
  graph.add(testing::kernel(system, 0_B, 1_GFLOP));  // 1 us and 1 ms
  const Accounting a = account(graph, system, system.plan(graph));
  EXPECT_EQ(a.work[0].active, Duration(1001us));
  const StepCosts costs = costs_of(c, system, a, Duration(2ms));
  EXPECT_NEAR(*costs.joules, 0.1 + 5 * 1.001e-3 + 10 * 2e-3, 1e-12);
}

TEST(PowerLimit, TheBoardKeepsItsPowerOnAverage) {
  SystemConfig c = with_power({}, 3);
  c.gpu.power.board_power = of<Power>(60'000);
  const System system(c);
  StepGraph graph = testing::empty_graph(system);
  graph.add(testing::kernel(system, 0_B, 1_GFLOP));  // 115 W for 1 ms
  const Accounting a = account(graph, system, system.plan(graph));
  EXPECT_NEAR(*costs_of(c, system, a, Duration(1ms)).gpu_joules, 0.06, 1e-12);
  EXPECT_NEAR(*costs_of(c, system, a, Duration(4ms)).gpu_joules, 0.1 + 5 * 1.001e-3 + 0.04, 1e-12);
}

TEST(PowerLimit, TimesDependOnPowerOnlyUnderALimit) {
  ScenarioConfig free;
  free.system = with_power({}, 3);
  ScenarioConfig limited;
  limited.system = with_power(50, 3);
  for (const char* path :
       {"system.gpu.idle_power", "system.gpu.active_power", "system.gpu.board_power",
        "system.gpu.energy_per_flop", "system.gpu.power_exponent", "system.gpu.least_clock",
        "system.tiers.hbm.memory.energy_per_byte"}) {
    EXPECT_TRUE(only_in_costs(path, free)) << path;
    EXPECT_FALSE(only_in_costs(path, limited)) << path;
  }
  for (const char* path : {"system.gpu.price", "system.tiers.pool.memory.energy_per_byte",
                           "system.economics.rent_per_hour"})
    EXPECT_TRUE(only_in_costs(path, limited)) << path;
  // Each kind of GPU has a limit of its own.
  free.ffn = FfnConfig{.system = limited.system};
  EXPECT_TRUE(only_in_costs("system.gpu.active_power", free));
  EXPECT_FALSE(only_in_costs("ffn.system.gpu.active_power", free));
  EXPECT_TRUE(is_cost_number("ffn.system.gpu.active_power"));
  EXPECT_TRUE(only_in_costs("ffn.system.gpu.price", free));
}

TEST(Economics, ARentReplacesPricesAndElectricity) {
  SystemConfig c = with_power({}, 3);
  c.economics.emplace();
  c.economics->amortisation_years.value = 1;
  c.economics->utilisation.value = 0.5;
  c.economics->electricity.value = MoneyPerEnergy::from_base(1'000'000'000);
  const System system(c);
  const PoweredWork hour{
      .moved = {Bytes{}, Bytes{}, Bytes{}}, .on = Duration(1s) * 3600, .on_gpus = 4};
  EXPECT_FALSE(costs_of(c, system, hour).usd);  // nothing has a price
  c.economics->rent_per_hour = of<Money>(3'000'000'000);
  // Four GPUs for an hour at 3 USD, of which half is work.
  EXPECT_DOUBLE_EQ(*costs_of(c, system, hour).usd, 24);
}

TEST(Economics, APriceOfTheGpuReplacesThatOfItsDevice) {
  SystemConfig c = with_power({}, 3);
  c.gpu.costs.price = of<Money>(100'000'000'000);
  c.tiers["hbm"].memory.costs.price = c.tiers["pool"].memory.costs.price = of<Money>(0);
  c.economics.emplace();
  c.economics->amortisation_years.value = 1;
  c.economics->utilisation.value = 1;
  const System system(c);
  const PoweredWork day{.moved = {Bytes{}, Bytes{}, Bytes{}}, .on = Duration(1s) * 86'400};
  const double before = *costs_of(c, system, day).usd;
  c.economics->gpu_price = of<Money>(300'000'000'000);
  EXPECT_NEAR(*costs_of(c, system, day).usd / before, 3, 1e-12);
}

}  // namespace
}  // namespace tiersim::power_limit_test
