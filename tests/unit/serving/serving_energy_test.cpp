// Energy of a served run: each of its four parts alone, against what else the record says.
#include <gtest/gtest.h>

#include "tests/support/served.hpp"
#include "tests/unit/step/small_system.hpp"

namespace tiersim::serving_energy_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

// Of two replicas for the whole run, without times of the CPU. Only the named parts take energy.
RunRecord served(const std::string& idle, const std::string& active, const std::string& flop,
                 const std::string& byte, const std::vector<std::string>& more = {}) {
  std::vector<std::string> set{"system.gpus.count=2",
                               "server.base=servers/no_host.yaml",
                               "server.routing=round_robin",
                               "workload.requests=40",
                               "measure.warm_up=0",
                               "system.gpu.calibration=none",
                               "system.gpu.idle_power=" + idle,
                               "system.gpu.active_power=" + active,
                               "system.gpu.energy_per_flop=" + flop,
                               "system.tiers.hbm.memory.energy_per_byte=" + byte,
                               "system.gpu.board_power=~"};
  set.insert(set.end(), more.begin(), more.end());
  return testing::served("serving/llama2_7b_h100.yaml", set);
}

double metric(const RunRecord& record, const char* name) {
  return record.metrics.at(name).value;
}
double tokens(const RunRecord& record) {
  return metric(record, "throughput_tokens_per_s") * metric(record, "window_s");
}

TEST(ServedEnergy, IdlePowerIsTakenByAllGpusForTheWholeWindow) {
  const RunRecord r = served("100 W", "0 W", "0 pJ/FLOP", "0 pJ/B");
  EXPECT_NEAR(metric(r, "power_w.mean"), 100, 1e-9);
  EXPECT_NEAR(metric(r, "gpu_energy_j_per_token") * tokens(r) / (2 * 100 * metric(r, "window_s")),
              1, 1e-9);
}

TEST(ServedEnergy, ActivePowerIsTakenWhileGpusWork) {
  const RunRecord r = served("0 W", "100 W", "0 pJ/FLOP", "0 pJ/B",
                             {"workload.arrivals={process: fixed_rate, requests_per_s: 0.2}"});
  ASSERT_LT(metric(r, "gpu_busy_share"), 0.9);
  EXPECT_NEAR(metric(r, "power_w.mean") / (100 * metric(r, "gpu_busy_share")), 1, 1e-6);
}

TEST(ServedEnergy, BytesAreThoseOfTheTraffic) {
  const RunRecord r = served("0 W", "0 W", "0 pJ/FLOP", "100 pJ/B");
  const ReadWrite& moved = r.traffic_bytes.at("hbm");
  const double joules = 1e-10 * static_cast<double>(moved.read + moved.write);
  // The traffic counts payload, and energy whole granules of the memory.
  const double ratio = metric(r, "gpu_energy_j_per_token") * tokens(r) / joules;
  EXPECT_GE(ratio, 1);
  EXPECT_LT(ratio, 1.01);
}

TEST(ServedEnergy, FlopsAreTwoForEachWeightAndPosition) {
  const RunRecord r = served("0 W", "0 W", "1 pJ/FLOP", "0 pJ/B",
                             {"workload.input.tokens=8", "workload.output.tokens=8"});
  // Llama-2-7B has 32 * (4 * 4096^2 + 3 * 4096 * 11008) weights in layers, which the 8 positions of
  // a prompt and all tokens but the last pass, and 32000 * 4096 in the head, for each token.
  const double layers = 32 * (4.0 * 4096 * 4096 + 3.0 * 4096 * 11'008);
  const double request = 2 * (15 * layers + 8 * 32'000.0 * 4096);
  // Attention to so few positions adds less than a per cent.
  const double flops = metric(r, "gpu_energy_j_per_token") * tokens(r) * 1e12;
  EXPECT_NEAR(flops / (40 * request), 1, 0.01);
}

TEST(ServedEnergy, IsLeftOutWhereADeviceStatesNone) {
  const RunRecord r = served("0 W", "0 W", "~", "100 pJ/B");
  EXPECT_FALSE(r.metrics.contains("energy_j_per_token"));
  EXPECT_FALSE(r.metrics.contains("power_w.mean"));
  EXPECT_NE(std::ranges::find(r.costs_unstated, "gpu: energy_per_flop"), r.costs_unstated.end());
}

TEST(ServedEnergy, TheBoardKeepsItsPowerOnAverage) {
  const RunRecord r =
      served("0 W", "900 W", "100 pJ/FLOP", "0 pJ/B", {"system.gpu.board_power=700 W"});
  EXPECT_NEAR(metric(r, "power_w.mean"), 700, 1e-9);
}

TEST(ServedEnergy, ALowerPowerLimitIsNeverFaster) {
  double first = 0;
  double last = 0;
  for (const char* limit : {"700 W", "500 W", "350 W", "250 W"}) {
    const RunRecord r = served("70 W", "300 W", "0.8 pJ/FLOP", "31.2 pJ/B",
                               {std::string("system.gpu.power_limit=") + limit,
                                "system.gpu.board_power=700 W", "workload.input.tokens=2000"});
    EXPECT_GE(metric(r, "ttft_s.mean"), last) << limit;
    last = metric(r, "ttft_s.mean");
    if (first == 0) first = last;
    EXPECT_LE(metric(r, "power_w.mean"), std::stod(limit) * (1 + 1e-9));
  }
  EXPECT_GT(last, 1.05 * first);
}

TEST(DemandEnergy, AddsFlopsTimeAtWorkAndMovedBytes) {
  const System system(testing::small_system());
  Demand sum(system);
  for (int i = 0; i < 2; ++i)
    sum.add(system.plan(testing::kernel(system, 1'000_B, Flops::from_base(3'000'000))), system);
  sum.add(system.plan(testing::copy(system, 8'000'000_B)), system);
  EXPECT_EQ(sum.powered_kiloflops(GpuRole::main), 6'000);
  EXPECT_EQ(sum.active(GpuRole::main),
            Duration(2 * (4us + 100ns)));  // latency, launch and 3 us; no copies
  EXPECT_EQ(sum.moved(system.device(system.tier("hbm"))), 8'002'000_B);
  EXPECT_EQ(sum.moved(system.device(system.tier("pool"))), 8'000'000_B);
}

}  // namespace
}  // namespace tiersim::serving_energy_test
