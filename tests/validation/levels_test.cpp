// The same scenario at each level: scenarios at packet level also run as flows and in closed form.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/step/packet_network.hpp"
#include "sim/step/simulate.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::levels_test {
namespace {

class AtEachLevel : public ::testing::TestWithParam<std::string> {
 protected:
  std::string path() const { return fmt::format("scenarios/packets/{}.yaml", GetParam()); }
  Simulation at(const std::string& level) const {
    std::vector<std::string> set;
    for (const std::string& device : at_packet_level(testing::scenario(path()).system))
      set.push_back(fmt::format("system.{}.level={}", device, level));
    EXPECT_FALSE(set.empty());
    auto result = simulate(testing::scenario(path(), set), Evaluation::times);
    EXPECT_TRUE(result) << (result ? "" : result.error());
    return *std::move(result);
  }

  // The bytes moved do not depend on the fidelity level.
  static void expect_the_same_bytes(const RunRecord& packets, const RunRecord& flow) {
    for (const auto& [device, moved] : flow.moved_bytes) {
      EXPECT_EQ(packets.moved_bytes.at(device).read, moved.read) << device;
      EXPECT_EQ(packets.moved_bytes.at(device).write, moved.write) << device;
      EXPECT_EQ(packets.traffic_by_class.at(device), flow.traffic_by_class.at(device)) << device;
    }
    EXPECT_EQ(packets.footprint_bytes, flow.footprint_bytes);
  }
};

// Nothing overlaps in these steps but the accesses of an operation, so that levels differ by what
// packets add: the disagreement map has the parts (hwmodels/LEVELS.md).
TEST_P(AtEachLevel, TheStepTakesTheSameWithinFivePercentAndMovesTheSameBytes) {
  const Simulation packets = at("packet");
  const Simulation flow = at("flow");
  const Simulation analytic = at("analytic");
  const double exact = to_seconds(packets.execution.time);
  EXPECT_NEAR(to_seconds(flow.execution.time) / exact, 1.0, 0.05);
  EXPECT_NEAR(to_seconds(analytic.execution.time) / exact, 1.0, 0.05);
  EXPECT_LE(packets.bound.time, packets.execution.time);
  EXPECT_NE(packets.execution.time, flow.execution.time);
  expect_the_same_bytes(packets.record, flow.record);
}

INSTANTIATE_TEST_SUITE_P(Packets, AtEachLevel,
                         ::testing::Values("llama2_7b_layer_stack", "llama2_7b_layer_node",
                                           "llama2_7b_layer_leaf"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tiersim::levels_test
