// Demands of a collective on one GPU's port and memory, and the contention of a group's GPUs.
#include <gtest/gtest.h>

#include "sim/step/accounting.hpp"
#include "sim/step/bound.hpp"
#include "sim/step/executor.hpp"
#include "tests/unit/step/small_fabric.hpp"

namespace tiersim::collectives_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::all_reduce;
using testing::collective;
using testing::copy;
using testing::each_simulated;
using testing::empty_graph;
using testing::fixed;
using testing::kernel;
using testing::small_fabric;

Bytes busy(const System& system, const OpPlan& plan, std::string_view channel) {
  for (const ChannelCharge& charge : plan.charges)
    if (system.channels()[charge.channel.index()].name == channel) return charge.busy;
  return {};
}

Execution run(const StepGraph& graph, const System& system) {
  const auto plans = system.plan(graph);
  Execution e = execute(graph, system, plans);
  EXPECT_GE(e.time, bound_of(graph, system, plans).time);
  return e;
}

// Both directions carry 2 (n - 1) / n of the size: 1.5 * 10 MB at 10 GB/s, after the 100 ns of HBM.
TEST(CollectivePlan, ChargesBothDirectionsOfThePortAndTheMemory) {
  const System system(small_fabric(4));
  const OpPlan plan = system.plan(all_reduce(system, 10'000'000_B, 4));
  EXPECT_EQ(busy(system, plan, "port.injection"), 15'000'000_B);
  EXPECT_EQ(busy(system, plan, "port.ejection"), 15'000'000_B);
  EXPECT_EQ(busy(system, plan, "hbm.bus"), 20'000'000_B);
  EXPECT_EQ(plan.ranks, 4);
  EXPECT_FALSE(plan.exclusive);
  EXPECT_EQ(plan.setup, 100ns);
  EXPECT_EQ(plan.setup_reason, "collective");
  EXPECT_EQ(plan.uncontended(system.channels()), 100ns + 1500us);
}

// Two pieces of 2000 B each way, two packets each: writes of peers need no answer.
TEST(CollectivePlan, HeadersGoWithThePayload) {
  NvlinkConfig link;
  link.raw.value = 10_GBps;
  link.efficiency.value = 1.0;
  link.sector.value = 1_B;
  link.packet.value = 1000_B;
  link.header.value = 16_B;
  SystemConfig config = small_fabric(2);
  config.links["port"] = fixed<Link>(link);
  const System system(config);
  const OpPlan plan = system.plan(all_reduce(system, 4000_B, 2));
  EXPECT_EQ(busy(system, plan, "port.injection"), 4000_B + 4 * 16_B);
  EXPECT_EQ(busy(system, plan, "port.ejection"), 4000_B + 4 * 16_B);
}

TEST(CollectivePlan, PiecesAreCountedByKind) {
  const System system(small_fabric(4));
  const auto injected = [&](CollectiveKind kind, std::int64_t ranks) {
    return busy(system, system.plan(collective(system, kind, 8'000_B, ranks)), "port.injection");
  };
  EXPECT_EQ(injected(CollectiveKind::all_reduce, 2), 8'000_B);
  EXPECT_EQ(injected(CollectiveKind::reduce_scatter, 4), 6'000_B);
  EXPECT_EQ(injected(CollectiveKind::all_gather, 4), 6'000_B);
  EXPECT_EQ(injected(CollectiveKind::all_to_all, 2), 4'000_B);
  EXPECT_EQ(injected(CollectiveKind::send, 2), 8'000_B);
}

// There is no wait: the previous stage sent it long ago. The first byte takes 200 ns.
TEST(CollectivePlan, ASendMeetsNobody) {
  const System system(small_fabric(4));
  const OpPlan plan = system.plan(collective(system, CollectiveKind::send, 8'000_B, 2));
  EXPECT_EQ(plan.ranks, 1);
  EXPECT_EQ(plan.setup, 200ns);
}

// Three peers: 2 us + 3 * 1 us of start-up, 3 * 1 MB at the kernel's 5 GB/s or the port's 10.
TEST(CollectivePlan, StartUpAndRateAreThoseOfTheAlgorithm) {
  DirectConfig direct;
  direct.algorithm = DirectAlgorithm::one_shot;
  direct.one_shot.value = direct.two_shot.value = 2us;
  direct.peer.value = 1us;
  direct.rate.value = 5_GBps;
  SystemConfig config = small_fabric(4);
  config.fabrics["tensor"].collective = fixed<Collective>(direct);
  const System system(config);
  const OpPlan plan = system.plan(all_reduce(system, 1'000'000_B, 4));
  EXPECT_EQ(plan.setup, 5us);
  EXPECT_EQ(plan.min_reason, "collective");
  EXPECT_EQ(plan.uncontended(system.channels()), 5us + 600us);
}

// Two links on the way: the slower one counts, and both have the traffic.
TEST(CollectivePlan, CrossesEveryLinkOfItsPath) {
  SystemConfig config = small_fabric(2);
  config.links["switch"] = testing::port(5_GBps);
  config.fabrics["tensor"].path = {"port", "switch"};
  const System system(config);
  StepGraph graph = empty_graph(system);
  graph.add(all_reduce(system, 1'000'000_B, 2));
  const auto plans = system.plan(graph);
  EXPECT_EQ(plans[0].uncontended(system.channels()), 100ns + 200us);
  const Accounting sums = account(graph, system, plans);
  for (std::size_t d = 0; d < system.device_names().size(); ++d) {
    const std::string& name = system.device_names()[d];
    const bool carries = name == "port" || name == "switch" || name == "hbm";
    EXPECT_EQ(total(sums.traffic[d].read.payload), carries ? 1'000'000_B : 0_B) << name;
    EXPECT_EQ(total(sums.traffic[d].write.payload), carries ? 1'000'000_B : 0_B) << name;
  }
  EXPECT_EQ(sums.exchanged, 1'000'000_B);
  EXPECT_EQ(sums.handed_over, 0_B);
}

TEST(CollectivePlan, PipelinesAndExpertsTakeTheNetworkOfTensorsUnlessTheyHaveTheirOwn) {
  SystemConfig config = small_fabric(2);
  EXPECT_EQ(config.fabric(Fabric::experts), &config.fabrics.at("tensor"));
  EXPECT_EQ(config.fabric(Fabric::pipeline), &config.fabrics.at("tensor"));
  EXPECT_EQ(config.fabric(Fabric::transfer), nullptr);
  config.links["own"] = testing::port(1_GBps);
  FabricConfig& own = config.fabrics["experts"];
  own.collective = fixed<Collective>(BytesOnlyConfig{});
  own.path = {"own"};
  const System system(config);
  Op op = collective(system, CollectiveKind::all_to_all, 8'000_B, 2);
  op.collective.fabric = Fabric::experts;
  EXPECT_EQ(busy(system, system.plan(op), "own.injection"), 4'000_B);
  EXPECT_EQ(busy(system, system.plan(op), "port.injection"), 0_B);
}

// Kernels, copies and collectives in a chain, with a send beside it.
StepGraph mixed(const System& system, std::int64_t ranks) {
  StepGraph graph = empty_graph(system);
  OpId last;
  for (int i = 0; i < 20; ++i) {
    OpIds after;
    if (last.valid()) after = {last};
    last = graph.add(kernel(system, 333'333_B, Flops::from_base(12'345'678), after));
    last = graph.add(all_reduce(system, 77'777_B, ranks, {last}));
    last = graph.add(copy(system, 55'555_B, {last}));
  }
  return graph;
}

TEST(Meeting, AChainWithCollectivesTakesExactlyItsBound) {
  for (const std::int64_t gpus : {1, 2, 4}) {
    const System system(small_fabric(gpus));
    const StepGraph graph = mixed(system, gpus);
    EXPECT_EQ(run(graph, system).time, bound_of(graph, system, system.plan(graph)).time);
  }
}

void expect_alike(const StepGraph& graph, const System& one, const System& all) {
  const Execution expected = run(graph, one);
  const Execution found = run(graph, all);
  EXPECT_EQ(found.time, expected.time);
  ASSERT_EQ(found.timings.size(), expected.timings.size());
  for (std::int64_t gpu = 0; gpu < all.gpus(); ++gpu)
    for (std::size_t op = 0; op < graph.ops.size(); ++op) {
      const OpTiming& a = expected.of_gpu(gpu)[op];
      const OpTiming& b = found.of_gpu(gpu)[op];
      EXPECT_EQ(a.ready, b.ready);
      EXPECT_EQ(a.start, b.start);
      EXPECT_EQ(a.end, b.end);
    }
}

TEST(Meeting, OneGpuStandsForAllWhereTheyShareNothing) {
  const System one(small_fabric(4));
  const System all(each_simulated(small_fabric(4)));
  for (const std::int64_t ranks : {2, 4}) expect_alike(mixed(all, ranks), one, all);
}

// Two chains that contend in a GPU do so on every GPU alike.
TEST(Meeting, OneGpuStandsForAllWhereItsOperationsOverlap) {
  const System one(small_fabric(4));
  const System all(each_simulated(small_fabric(4)));
  StepGraph graph = mixed(all, 4);
  const StepGraph other = mixed(all, 2);
  const std::size_t first = graph.ops.size();
  for (Op op : other.ops) {
    for (OpId& before : op.after) before = OpId(before.index() + first);
    graph.add(std::move(op));
  }
  expect_alike(graph, one, all);
}

// 10 MB of an all-reduce and 10 MB of a copy come in by one port, which is never idle after the
// collective's 100 ns: at 10 GB/s the last of them is there 2 ms later, not 1.
TEST(Meeting, FlowsBesideACollectiveSlowIt) {
  SystemConfig config = small_fabric(2);
  config.tiers.at("pool").path = {"port"};
  const System system(config);
  StepGraph graph = empty_graph(system);
  graph.add(all_reduce(system, 10'000'000_B, 2));
  EXPECT_EQ(run(graph, system).time, 100ns + 1ms);
  graph.add(copy(system, 10'000'000_B));
  const Execution e = run(graph, system);
  EXPECT_EQ(e.time, e.timings[0].end.time_since_epoch());
  // Two periods of shared rates, less than 1 ps late each (flow_network.hpp).
  EXPECT_GE(e.time, 100ns + 2ms);
  EXPECT_LE(e.time, 100ns + 2ms + Duration(2));
}

// A collective beside a kernel: neither waits for the other, but for the memory.
TEST(Meeting, ACollectiveRunsBesideKernels) {
  const System system(small_fabric(2));
  StepGraph graph = empty_graph(system);
  graph.add(kernel(system, 0_B, 1_GFLOP));  // 1 us + 1 ms
  graph.add(all_reduce(system, 1'000'000_B, 2));
  const Execution e = run(graph, system);
  EXPECT_EQ(e.timings[0].end.time_since_epoch(), 1ms + 1us);
  EXPECT_EQ(e.timings[1].end.time_since_epoch(), 100ns + 100us);
}

// Through a switch that all four GPUs share: 4 * 1.5 MB at 10 GB/s.
TEST(Meeting, GpusContendForASwitchThatTheyShare) {
  SystemConfig config = small_fabric(4);
  config.links["switch"] = testing::port(10_GBps);
  config.fabrics["tensor"].path = {"port", "switch"};
  config.shared.all = {"switch"};
  const System system(config);
  StepGraph graph = empty_graph(system);
  graph.add(all_reduce(system, 1'000'000_B, 4));
  const Duration expected = 100ns + 4 * 1'500'000_B / 10_GBps;
  const Duration time = run(graph, system).time;
  EXPECT_GE(time, expected);
  EXPECT_LE(time, expected + Duration(1));
  EXPECT_EQ(bound_of(graph, system, system.plan(graph)).binding, "switch.ejection");
}

TEST(HostWork, TakesItsTimeAndNothingElse) {
  SystemConfig config = small_fabric(1);
  config.host.emplace().step.value = 2ms;
  const System system(config);
  const OpPlan plan = system.plan({.kind = OpKind::host, .phase = Phase::host, .flops = {}});
  EXPECT_FALSE(plan.exclusive);
  EXPECT_TRUE(plan.charges.empty());
  EXPECT_EQ(plan.uncontended(system.channels()), 2ms);
  EXPECT_EQ(plan.setup_reason, "host");
}

TEST(Accounting, TellsWhatIsHandedOverFromWhatIsExchanged) {
  SystemConfig config = small_fabric(2);
  FabricConfig& transfer = config.fabrics["transfer"];
  transfer.collective = fixed<Collective>(BytesOnlyConfig{});
  transfer.path = {"port"};
  const System system(config);
  StepGraph graph = empty_graph(system);
  graph.add(all_reduce(system, 1'000_B, 2));
  Op send = collective(system, CollectiveKind::send, 500_B, 2);
  send.phase = Phase::kv_transfer;
  send.collective.fabric = Fabric::transfer;
  graph.add(send);
  const Accounting sums = account(graph, system, system.plan(graph));
  EXPECT_EQ(sums.exchanged, 1'000_B);
  EXPECT_EQ(sums.handed_over, 500_B);
}

// 2 us at the port; the CPU takes 5 us to launch it, or less than the collective itself.
TEST(Launch, IsTheLeastTimeOfACollective) {
  SystemConfig config = small_fabric(2);
  const auto time = [&] {
    const System system(config);
    return system.plan(all_reduce(system, 1'000'000_B, 2)).uncontended(system.channels());
  };
  const Duration captured = time();
  config.fabrics["tensor"].launch = Sourced<Duration>{.value = captured + 3us};
  EXPECT_EQ(time(), captured + 3us);
  config.fabrics["tensor"].launch->value = captured / 2;
  EXPECT_EQ(time(), captured);
}

// 50 runs of 10 B at 10 us each: the host posts all of them before the first one moves.
TEST(HandOver, TakesTheTimeOfItsCopies) {
  SystemConfig config = small_fabric(2);
  FabricConfig& transfer = config.fabrics["transfer"];
  transfer.collective = fixed<Collective>(BytesOnlyConfig{});
  transfer.path = {"port"};
  const auto planned = [&] {
    const System system(config);
    Op send = collective(system, CollectiveKind::send, 500_B, 2);
    send.phase = Phase::kv_transfer;
    send.collective.fabric = Fabric::transfer;
    send.accesses = {{system.tier("hbm"), Direction::read, TensorClass::keys, 500_B, 10_B}};
    return system.plan(send);
  };
  const OpPlan free = planned();
  CopyEngineConfig engine;
  engine.to_gpu.value = engine.from_gpu.value = 1_GBps;
  engine.submission = Submission{.time = {.value = 10us}, .ahead = {.value = 1 << 20}};
  transfer.requester = fixed<Requester>(engine);
  EXPECT_EQ(planned().setup, free.setup + 500us);
  EXPECT_EQ(planned().min_duration, std::max<Duration>(free.min_duration, 500ns));
  engine.submission->ahead.value = 1;
  transfer.requester = fixed<Requester>(engine);
  EXPECT_EQ(planned().setup, free.setup + 10us);
  EXPECT_EQ(planned().min_duration, 490us);
}

}  // namespace
}  // namespace tiersim::collectives_test
