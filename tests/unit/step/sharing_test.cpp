#include <gtest/gtest.h>

#include "sim/step/accounting.hpp"
#include "sim/step/bound.hpp"
#include "sim/step/executor.hpp"
#include "tests/unit/step/small_system.hpp"

namespace tiersim::sharing_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::copy;
using testing::empty_graph;
using testing::fixed;
using testing::small_system;

// The copy engine's 8 GB/s limit one GPU; the link's 10 GB/s, two headers aside, limit two that
// share it.
SystemConfig gpus(std::int64_t count, std::int64_t hosts, std::vector<std::string> per_host,
                  std::vector<std::string> all) {
  SystemConfig c = small_system();
  c.gpus = {.count = count, .hosts = hosts};
  c.shared = {.host = std::move(per_host), .all = std::move(all)};
  return c;
}

Duration copy_time(const SystemConfig& config) {
  const System system(config);
  StepGraph graph = empty_graph(system);
  graph.add(copy(system, 8'000'000_B));
  const auto plans = system.plan(graph);
  const Execution e = execute(graph, system, plans);
  EXPECT_GE(e.time, bound_of(graph, system, plans).time);
  return e.time;
}

TEST(Sharing, GpusWithDevicesOfTheirOwnDoNotMeet) {
  EXPECT_EQ(copy_time(gpus(4, 1, {}, {})), copy_time(small_system()));
}

TEST(Sharing, GpusMeetInALinkThatAllShare) {
  // 4 * 8,000,020 wire bytes at 10 GB/s, then at most 1 ps late (flow_network.hpp).
  const Duration expected = 500ns + 4 * 8'000'020_B / 10_GBps;
  const Duration time = copy_time(gpus(4, 1, {}, {"pcie", "pool"}));
  EXPECT_GE(time, expected);
  EXPECT_LE(time, expected + Duration(1));
}

TEST(Sharing, GpusOfOneHostMeetAndThoseOfAnotherDoNot) {
  EXPECT_EQ(copy_time(gpus(4, 2, {"pcie"}, {})), copy_time(gpus(2, 1, {"pcie"}, {})));
  EXPECT_LT(copy_time(gpus(4, 2, {"pcie"}, {})), copy_time(gpus(4, 1, {"pcie"}, {})));
}

TEST(Sharing, AnalyticDevicesAreNotContendedFor) {
  SystemConfig config = gpus(4, 1, {}, {"pcie", "pool"});
  config.links["pcie"].level = Level::analytic;
  config.tiers["pool"].memory.level = Level::analytic;
  EXPECT_EQ(copy_time(config), copy_time(small_system()));
  // Still no faster than the link: the copy engine's 8 GB/s no longer limit it.
  CopyEngineConfig faster;
  faster.to_gpu.value = faster.from_gpu.value = 100_GBps;
  config.copy_engine = fixed<Requester>(faster);
  EXPECT_EQ(copy_time(config), 500ns + 8'000'020_B / 10_GBps);
}

TEST(Sharing, ASharedTierMustHoldWhatEveryGpuKeepsInIt) {
  const System system(gpus(4, 1, {}, {"pool"}));
  StepGraph graph = empty_graph(system);
  graph.tensors = {{TensorClass::keys, system.tier("pool"), 3_GiB}};
  const auto all = overflows(graph, system);  // 12 GiB where 10 fit
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().text,
            "tier 'pool' holds 10 GiB and 12 GiB are needed by 4 GPUs: keys 12 GiB");
  graph.tensors.front().size = 2_GiB;
  EXPECT_TRUE(overflows(graph, system).empty());
}

TEST(Sharing, FactorsScaleTheWayToTheFarTierAndNothingElse) {
  const System doubled(small_system(), {.tier = "pool", .bandwidth = 2, .latency = 0.5});
  StepGraph graph = empty_graph(doubled);
  graph.add(copy(doubled, 8'000'000_B));
  // 8 GB/s become 16, the latency of link and pool halves from 500 ns.
  EXPECT_EQ(execute(graph, doubled, doubled.plan(graph)).time, 250ns + 500us);
  const Op kernel = testing::kernel(doubled, 1'000'000_B, 0 * 1_GFLOP);
  EXPECT_EQ(doubled.plan(kernel).uncontended(doubled.channels()), 1us + 100ns + 10us);
}

}  // namespace
}  // namespace tiersim::sharing_test
