// Invariants of the three readings of every shipped scenario.
#include <gtest/gtest.h>

#include "sim/step/simulate.hpp"
#include "tests/support/invariants.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::shipped_scenarios_test {
namespace {

class ShippedScenario : public ::testing::TestWithParam<std::string> {
 protected:
  Simulation run(const std::vector<std::string>& set = {},
                 Evaluation evaluation = Evaluation::times) const {
    auto result = simulate(testing::scenario(GetParam(), set), evaluation);
    EXPECT_TRUE(result) << (result ? "" : result.error());
    return *std::move(result);
  }
};

TEST_P(ShippedScenario, TheReadingsAgree) {
  for (const std::string& broken : testing::broken_invariants(run())) ADD_FAILURE() << broken;
}

TEST_P(ShippedScenario, TheSameConfigurationGivesTheSameRecord) {
  const auto record = [&] { return to_json(run({}, Evaluation::all).record); };
  EXPECT_EQ(record(), record());
}

// The effective configuration in a record is a configuration that gives the same results again.
TEST_P(ShippedScenario, ARecordRunsAgainFromItsOwnConfiguration) {
  const RunRecord first = run({}, Evaluation::all).record;
  Diagnostics diagnostics;
  const Document document = load_text(first.config, "record.json", {}, diagnostics);
  const auto config = read<ScenarioConfig>(document, "scenario", diagnostics);
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.list().front().text();
  const RunRecord second = simulate(config, Evaluation::all)->record;
  EXPECT_EQ(second.run_id, first.run_id);
  EXPECT_EQ(to_json(second), to_json(first));
}

TEST_P(ShippedScenario, TheSmallestBatchTakesNoLongerThanTheWhole) {
  const bool halves = testing::scenario(GetParam()).step.overlap == Overlap::micro_batches;
  EXPECT_LE(run({halves ? "step.batch=2" : "step.batch=1"}).execution.time, run().execution.time);
}

TEST_P(ShippedScenario, MaxBatchFitsAndOneMoreDoesNot) {
  const ScenarioConfig config = testing::scenario(GetParam());
  const System system = build_system(config);
  const std::int64_t most = largest_batch(config, system);
  const auto fits = [&](std::int64_t batch) {
    const auto other = testing::scenario(GetParam(), {"step.batch=" + std::to_string(batch)});
    return overflows(build_graph(other, system), system).empty();
  };
  EXPECT_TRUE(fits(most));
  EXPECT_FALSE(fits(most + 1));
}

// Each invariant can fail.
TEST(BrokenInvariants, AreFoundInADoctoredSimulation) {
  const ScenarioConfig config = testing::scenario("scenarios/maple/llama2_7b_maple.yaml");
  const auto broken_by = [&](auto doctor) {
    Simulation sim = *simulate(config, Evaluation::all);
    doctor(sim);
    return testing::broken_invariants(sim).size();
  };
  EXPECT_EQ(broken_by([](Simulation&) {}), 0U);
  EXPECT_GT(broken_by([](Simulation& s) { s.bound.time = s.execution.time + Duration(1); }), 0U);
  EXPECT_GT(broken_by([](Simulation& s) { s.execution.timings[3].start += Duration(2); }), 0U);
  EXPECT_GT(broken_by([](Simulation& s) { s.execution.timings[3].end += Duration(2); }), 0U);
  EXPECT_GT(broken_by([](Simulation& s) { s.execution.busy[0] += Bytes::from_base(1); }), 0U);
  EXPECT_GT(
      broken_by([](Simulation& s) { s.graph.ops[3].accesses[0].payload += Bytes::from_base(1); }),
      0U);
  EXPECT_GT(broken_by([](Simulation& s) { s.accounting.traffic[0].read.moved = {}; }), 0U);
  EXPECT_GT(broken_by([](Simulation& s) {
              s.accounting.footprint[0][0] = s.system->capacity(TierId(0)) + Bytes::from_base(1);
            }),
            0U);
}

INSTANTIATE_TEST_SUITE_P(Shipped, ShippedScenario,
                         ::testing::ValuesIn(testing::shipped_scenarios()),
                         [](const auto& instance) { return testing::test_name(instance.param); });

}  // namespace
}  // namespace tiersim::shipped_scenarios_test
