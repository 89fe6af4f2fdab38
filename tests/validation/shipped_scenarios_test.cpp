// Invariants of the three readings of every shipped scenario.
#include <set>

#include <gtest/gtest.h>

#include "sim/step/simulate.hpp"
#include "tests/support/invariants.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/test_length.hpp"
#include "tests/validation/shipped_checks.hpp"

namespace tiersim::shipped_scenarios_test {
namespace {

class ShippedScenarios : public ::testing::TestWithParam<std::string> {
 protected:
  static void expect_that_the_readings_agree(const Simulation& sim) {
    for (const std::string& broken : testing::broken_invariants(sim)) ADD_FAILURE() << broken;
  }

  // The effective configuration in a record is a configuration that gives the same record again.
  static void expect_the_same_record_from_its_configuration(const RunRecord& first) {
    Diagnostics diagnostics;
    const Document document = load_text(first.config, "record.json", {}, diagnostics);
    const auto config = read<ScenarioConfig>(document, "scenario", diagnostics);
    ASSERT_TRUE(diagnostics.ok()) << diagnostics.list().front().text();
    const auto second = simulate(config, Evaluation::all);
    ASSERT_TRUE(second) << second.error();
    EXPECT_EQ(second->record.run_id, first.run_id);
    EXPECT_EQ(to_json(second->record), to_json(first));
  }

  // These two change the batch.
  static void expect_no_longer_time_of_the_smallest_batch(ScenarioConfig& config,
                                                          Duration of_whole) {
    config.step.batch = config.step.overlap == Overlap::micro_batches ? 2 : 1;
    const auto smallest = simulate(config, Evaluation::times, Provenance::classes);
    ASSERT_TRUE(smallest) << smallest.error();
    EXPECT_LE(smallest->execution.time, of_whole);
  }

  static void expect_that_max_batch_fits_and_one_more_does_not(ScenarioConfig& config,
                                                               const System& system) {
    const std::int64_t most = largest_batch(config, system);
    const auto fits = [&](std::int64_t batch) {
      config.step.batch = batch;
      return overflows(build_graph(config, system), system).empty();
    };
    EXPECT_TRUE(fits(most));
    EXPECT_FALSE(fits(most + 1));
  }
};

std::string folder_of(const std::string& scenario) {
  return scenario.substr(0, scenario.rfind('/'));
}

// One test for all that needs the whole run of a scenario, which takes most of the time.
TEST_P(ShippedScenarios, HoldTheirInvariantsAndSoDoTheirRecords) {
  std::vector<std::string> files = testing::shipped_scenarios();
  std::erase_if(files, [](const std::string& file) { return folder_of(file) != GetParam(); });
  for (const std::string& file : testing::part_of(files, 4)) {
    SCOPED_TRACE(file);
    ScenarioConfig config = testing::scenario(file);
    const auto sim = simulate(config, Evaluation::all);
    if (!sim) {
      ADD_FAILURE() << sim.error();
      continue;
    }
    expect_that_the_readings_agree(*sim);
    expect_the_same_record_from_its_configuration(sim->record);
    expect_no_longer_time_of_the_smallest_batch(config, sim->execution.time);
    expect_that_max_batch_fits_and_one_more_does_not(config, *sim->system);
    testing::expect_round_trip(sim->record);
    testing::expect_tier_bytes(*sim);
    testing::expect_device_bytes(*sim);
  }
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

std::set<std::string> folders() {
  std::set<std::string> out;
  for (const std::string& file : testing::shipped_scenarios()) out.insert(folder_of(file));
  return out;
}

INSTANTIATE_TEST_SUITE_P(Folders, ShippedScenarios, ::testing::ValuesIn(folders()),
                         [](const auto& instance) { return testing::test_name(instance.param); });

}  // namespace
}  // namespace tiersim::shipped_scenarios_test
