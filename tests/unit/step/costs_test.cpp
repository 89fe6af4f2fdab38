#include "sim/step/costs.hpp"

#include <gtest/gtest.h>

#include "tests/unit/step/small_system.hpp"

namespace tiersim::costs_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

template <class T>
Sourced<T> assumed(std::int64_t base) {
  return {.value = T::from_base(base), .number_class = NumberClass::assumed, .source = "test"};
}
EnergyPerByte picojoules_per_byte(std::int64_t pj) {
  return EnergyPerByte::from_base(pj * 1000);
}

// HBM 10 pJ/B, pool 40, link 20; 1 pJ/FLOP; the GPU idles at 100 W.
SystemConfig with_energy() {
  SystemConfig c = testing::small_system();
  c.tiers["hbm"].memory.costs.energy_per_byte = {picojoules_per_byte(10), {}, {}};
  c.tiers["pool"].memory.costs.energy_per_byte = {picojoules_per_byte(40), {}, {}};
  c.links["pcie"].costs.energy_per_byte = {picojoules_per_byte(20), {}, {}};
  c.gpu.costs.energy_per_flop = assumed<EnergyPerFlop>(1'000'000);  // aJ
  c.gpu.costs.idle_power = assumed<Power>(100'000);                 // mW
  return c;
}

// 100 USD the GPU, 10 USD per GB of the pool (10 GiB), HBM within the GPU; one year, always used.
SystemConfig with_prices(std::int64_t gpus) {
  SystemConfig c = with_energy();
  c.gpus.count = gpus;
  c.shared.all = {"pool"};
  c.gpu.costs.price = assumed<Money>(100'000'000'000);
  c.tiers["hbm"].memory.costs.price_per_byte = assumed<MoneyPerByte>(0);
  c.tiers["pool"].memory.costs.price_per_byte = assumed<MoneyPerByte>(10'000'000'000);
  c.economics.emplace();
  c.economics->amortisation_years.value = 1;
  c.economics->utilisation.value = 1;
  c.economics->electricity.value = MoneyPerEnergy::from_base(0);
  return c;
}

StepCosts costs(const SystemConfig& config) {
  const System system(config);
  StepGraph graph = testing::empty_graph(system);
  graph.add(testing::copy(system, 1'000'000_B));
  graph.add(testing::kernel(system, 0_B, 1_GFLOP));
  return costs_of(config, system, account(graph, system, system.plan(graph)), 1ms);
}

TEST(Costs, EnergyIsThatOfBytesArithmeticAndIdleTime) {
  // 1 MB written to HBM, over the link and from the pool, 1 GFLOP, 100 W for 1 ms.
  const double expected = 1e6 * (10 + 20 + 40) * 1e-12 + 1e9 * 1e-12 + 100 * 1e-3;
  const StepCosts c = costs(with_energy());
  ASSERT_TRUE(c.joules);
  EXPECT_DOUBLE_EQ(*c.joules, expected);
  EXPECT_FALSE(c.usd);
  EXPECT_EQ(c.joules_class, NumberClass::assumed);
}

TEST(Costs, ADeviceThatMovesBytesAndStatesNoEnergyLeavesNoSum) {
  SystemConfig config = with_energy();
  config.links["pcie"].costs.energy_per_byte.reset();
  const StepCosts c = costs(config);
  EXPECT_FALSE(c.joules);
  EXPECT_EQ(c.unstated, (std::vector<std::string>{"gpu: price", "hbm: price", "pool: price",
                                                  "pcie: energy_per_byte", "pcie: price"}));
}

TEST(Costs, PricesArePaidOverTheWorkingTimeAndSharedByTheGpus) {
  const double year = 365.25 * 86'400;
  const double pool = 10.0 * 10 * 1.073741824;
  EXPECT_NEAR(*costs(with_prices(1)).usd, (100 + pool) * 1e-3 / year, 1e-18);
  EXPECT_NEAR(*costs(with_prices(4)).usd, (100 + pool / 4) * 1e-3 / year, 1e-18);
}

TEST(Costs, ElectricityIsPaidByTheKilowattHour) {
  SystemConfig config = with_prices(1);
  const double without = *costs(config).usd;
  config.economics->electricity.value = MoneyPerEnergy::from_base(3'600'000'000);  // 3.6 USD/kWh
  const StepCosts c = costs(config);
  EXPECT_NEAR(*c.usd - without, *c.joules * 1e-6, 1e-15);
}

TEST(Costs, PricesWeakenTheCostAndNotTheEnergy) {
  SystemConfig config = with_prices(1);
  config.gpu.costs.energy_per_flop->number_class = NumberClass::measured;
  config.gpu.costs.idle_power->number_class = NumberClass::fitted;
  // The link moves nothing when the copy is left out, so what it would cost has no part.
  config.links["pcie"].costs.energy_per_byte->number_class = NumberClass::assumed;
  const System system(config);
  StepGraph graph = testing::empty_graph(system);
  graph.add(testing::kernel(system, 0_B, 1_GFLOP));
  const StepCosts c =
      costs_of(config, system, account(graph, system, system.plan(graph)), Duration(1ms));
  ASSERT_TRUE(c.usd);
  EXPECT_EQ(c.joules_class, NumberClass::fitted);
  EXPECT_EQ(c.usd_class, NumberClass::assumed);
}

}  // namespace
}  // namespace tiersim::costs_test
