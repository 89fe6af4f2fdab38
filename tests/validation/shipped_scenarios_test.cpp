// What must hold between the three readings of every shipped scenario.
#include <gtest/gtest.h>

#include "sim/run/simulate.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim {
namespace {

class ShippedScenario : public ::testing::TestWithParam<std::string> {
 protected:
  Simulation run(const std::vector<std::string>& set = {}) const {
    auto result = simulate(testing::scenario(GetParam(), set), Readings::all);
    EXPECT_TRUE(result) << (result ? "" : result.error());
    return *std::move(result);
  }
};

TEST_P(ShippedScenario, TheEngineIsNeverFasterThanTheBound) {
  const Simulation sim = run();
  EXPECT_GE(sim.execution.time, sim.bound.time);
}

// An operation that nothing else overlaps takes its uncontended time: to 1 ps.
TEST_P(ShippedScenario, AnOperationAloneTakesItsUncontendedTime) {
  const Simulation sim = run();
  const auto& timings = sim.execution.timings;
  std::size_t alone = 0;
  for (std::size_t i = 0; i < timings.size(); ++i) {
    const bool overlapped = std::ranges::any_of(timings, [&](const OpTiming& other) {
      return &other != &timings[i] && other.flow < timings[i].end && timings[i].flow < other.end;
    });
    if (overlapped) continue;
    ++alone;
    const Duration expected = sim.plans[i].uncontended(sim.system->channels());
    EXPECT_NEAR(static_cast<double>((timings[i].end - timings[i].start - expected).count()), 0, 1)
        << describe_op(sim.graph.ops[i]);
  }
  EXPECT_GT(alone, sim.graph.ops.size() / 4);
}

TEST_P(ShippedScenario, NoOperationBeatsItsUncontendedTime) {
  const Simulation sim = run();
  for (std::size_t i = 0; i < sim.plans.size(); ++i) {
    const OpTiming& timing = sim.execution.timings[i];
    EXPECT_GE(timing.end - timing.start, sim.plans[i].uncontended(sim.system->channels()));
  }
}

TEST_P(ShippedScenario, ChannelsSeeTheBytesOfTheAccounting) {
  const Simulation sim = run();
  EXPECT_EQ(sim.execution.busy, sim.accounting.busy);
}

TEST_P(ShippedScenario, DevicesSeeThePayloadOfTheGraph) {
  const Simulation sim = run();
  for (std::size_t t = 0; t < sim.graph.tier_names.size(); ++t) {
    Bytes read;
    Bytes written;
    for (const Op& op : sim.graph.ops)
      for (const Access& access : op.accesses)
        if (access.tier == TierId(t))
          (access.direction == Direction::read ? read : written) += access.payload;
    EXPECT_EQ(total(sim.accounting.traffic[t].read.payload), read);
    EXPECT_EQ(total(sim.accounting.traffic[t].write.payload), written);
  }
}

TEST_P(ShippedScenario, DevicesMoveAtLeastThePayload) {
  const Simulation sim = run();
  for (const DeviceSum& device : sim.accounting.traffic) {
    EXPECT_GE(total(device.read.moved), total(device.read.payload));
    EXPECT_GE(total(device.write.moved), total(device.write.payload));
  }
}

TEST_P(ShippedScenario, NoChannelIsBusierThanItsCapacity) {
  const Simulation sim = run();
  for (const auto& [channel, share] : sim.record.channel_utilisation)
    EXPECT_LE(share, 1.0) << channel;
}

TEST_P(ShippedScenario, TheSameConfigurationGivesTheSameRecord) {
  EXPECT_EQ(to_json(run().record), to_json(run().record));
}

// The effective configuration in a record is a configuration: it gives the same results again.
TEST_P(ShippedScenario, ARecordRunsAgainFromItsOwnConfiguration) {
  const RunRecord first = run().record;
  Diagnostics diagnostics;
  const Document document = load_text(first.config, "record.json", {}, diagnostics);
  const auto config = read<ScenarioConfig>(document, "scenario", diagnostics);
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.list().front().text();
  const RunRecord second = simulate(config, Readings::all)->record;
  EXPECT_EQ(second.run_id, first.run_id);
  EXPECT_EQ(to_json(second), to_json(first));
}

TEST_P(ShippedScenario, OneSequenceTakesNoLongerThanTheWholeBatch) {
  EXPECT_LE(run({"step.batch=1"}).execution.time, run().execution.time);
}

TEST_P(ShippedScenario, MaxBatchFitsAndOneMoreDoesNot) {
  const ScenarioConfig config = testing::scenario(GetParam());
  const System system(config.system);
  const std::int64_t most = largest_batch(config, system);
  const auto fits = [&](std::int64_t batch) {
    const auto other = testing::scenario(GetParam(), {"step.batch=" + std::to_string(batch)});
    return overflows(build_graph(other, system), system).empty();
  };
  EXPECT_TRUE(fits(most));
  EXPECT_FALSE(fits(most + 1));
}

INSTANTIATE_TEST_SUITE_P(Shipped, ShippedScenario,
                         ::testing::ValuesIn(testing::shipped_scenarios()),
                         [](const auto& instance) { return testing::test_name(instance.param); });

}  // namespace
}  // namespace tiersim
