// A faster path to the far tier makes no step slower, for every shipped scenario. Its order of
// kernels and copies is fixed, so that each operation begins no later where those before it take
// less time. What is left is sharing: a copy beside the chain takes bandwidth from the kernels. So
// with T the time of the chain alone, and W the work of all copies on the channels of kernels,
//   T(faster) <= step(faster) <= T(faster) + W   and   T(faster) <= T(slower) <= step(slower)
// and a step may grow by W at most.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/step/simulate.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/test_length.hpp"

namespace tiersim::faster_hardware_test {
namespace {

// W: the time that channels of kernels work for copies.
Duration copies_beside_kernels(const Simulation& sim) {
  std::set<ChannelId> of_kernels;
  for (std::size_t op = 0; op < sim.plans.size(); ++op)
    if (sim.graph.ops[op].kind == OpKind::compute)
      for (const ChannelCharge& charge : sim.plans[op].charges) of_kernels.insert(charge.channel);
  Duration sum{};
  for (std::size_t op = 0; op < sim.plans.size(); ++op)
    if (sim.graph.ops[op].kind != OpKind::compute)
      for (const ChannelCharge& charge : sim.plans[op].charges)
        if (of_kernels.contains(charge.channel))
          sum += charge.busy / sim.system->channels()[charge.channel.index()].capacity;
  return sum;
}

class FasterHardware : public ::testing::TestWithParam<std::string> {
 protected:
  // Settings from slow to fast, for a small step; for the scenario's own step at night, and where
  // the scenario refuses the small one.
  void expect_no_slower(const std::vector<std::string>& settings) const {
    const bool small = compare({"step.batch=4", "step.context=8192"}, settings);
    if (small && !testing::is_nightly()) return;
    const bool own = compare({}, settings);
    EXPECT_TRUE(small || own) << "every setting is refused, so that nothing was compared";
  }

 private:
  // False where the scenario refuses a setting or does not fit.
  static bool compare(const std::vector<std::string>& more,
                      const std::vector<std::string>& settings) {
    std::optional<Duration> slower;
    for (const std::string& setting : settings) {
      std::vector<std::string> set = more;
      set.push_back(setting);
      Diagnostics diagnostics;
      const ScenarioConfig config = testing::try_scenario(GetParam(), set, diagnostics);
      if (!diagnostics.ok()) return false;
      const auto sim = simulate(config, Evaluation::times);
      if (!sim) return false;
      const Duration time = sim->execution.time;
      if (slower) {
        EXPECT_LE(time, *slower + copies_beside_kernels(*sim)) << setting;
      }
      slower = time;
    }
    return true;
  }
};

TEST_P(FasterHardware, OfMoreBandwidthTakesNoLonger) {
  std::vector<std::string> settings;
  for (const double factor : {0.5, 0.9, 1.0, 1.15, 1.26, 2.0})
    settings.push_back(fmt::format("what_if.far_bandwidth={}", factor));
  expect_no_slower(settings);
}

TEST_P(FasterHardware, OfLessLatencyTakesNoLonger) {
  std::vector<std::string> settings;
  for (const double factor : {7.0, 4.5, 1.0, 0.3})
    settings.push_back(fmt::format("what_if.far_latency={}", factor));
  expect_no_slower(settings);
}

// The scenarios of all methods and ways to overlap; the others share their graphs.
std::vector<std::string> scenarios() {
  return testing::is_nightly() ? testing::shipped_scenarios()
                               : testing::shipped("scenarios/methods");
}

INSTANTIATE_TEST_SUITE_P(Shipped, FasterHardware, ::testing::ValuesIn(scenarios()),
                         [](const auto& instance) { return testing::test_name(instance.param); });

}  // namespace
}  // namespace tiersim::faster_hardware_test
