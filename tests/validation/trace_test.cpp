#include "sim/run/trace.hpp"

#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/shipped.hpp"

namespace tiersim {
namespace {

TEST(Trace, CountersEndAtTheTrafficOfTheAccounting) {
  const auto sim =
      simulate(testing::scenario("scenarios/maple/llama2_7b_maple.yaml"), Readings::all);
  const auto trace = nlohmann::json::parse(to_perfetto_json({&*sim, 1}));
  std::map<std::string, ReadWrite> last;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "C") continue;
    ReadWrite& sum = last[event["name"]];
    const auto read = event["args"]["read"].get<std::int64_t>();
    const auto write = event["args"]["write"].get<std::int64_t>();
    EXPECT_GE(read, sum.read);  // counters never fall
    EXPECT_GE(write, sum.write);
    sum = {read, write};
  }
  EXPECT_EQ(last.size(), sim->record.traffic_bytes.size());
  for (const auto& [device, bytes] : sim->record.traffic_bytes) {
    EXPECT_EQ(last[device + " bytes"].read, bytes.read) << device;
    EXPECT_EQ(last[device + " bytes"].write, bytes.write) << device;
  }
}

TEST(Trace, HasOneSpanForEachOperationWithinTheStep) {
  const auto sim =
      simulate(testing::scenario("scenarios/maple/llama2_7b_maple.yaml"), Readings::all);
  const auto trace = nlohmann::json::parse(to_perfetto_json({&*sim, 1}));
  std::size_t spans = 0;
  double end_us = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    ++spans;
    end_us = std::max(end_us, event["ts"].get<double>() + event["dur"].get<double>());
  }
  EXPECT_EQ(spans, sim->graph.ops.size());
  EXPECT_NEAR(end_us, to_seconds(sim->execution.time) * 1e6, 1e-3);
}

}  // namespace
}  // namespace tiersim
