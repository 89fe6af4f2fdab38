// Steps with devices at packet level: the joint execution, and combinations that are refused.
#include <gtest/gtest.h>

#include "hwmodels/collective/direct.hpp"
#include "hwmodels/link/hop.hpp"
#include "hwmodels/link/nvlink.hpp"
#include "hwmodels/packet/dram/dram_probe.hpp"
#include "sim/step/bound.hpp"
#include "sim/step/executor.hpp"
#include "tests/unit/packet/nvlink_h100.hpp"
#include "tests/unit/step/small_system.hpp"

namespace tiersim::packet_level_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::copy;
using testing::empty_graph;
using testing::fixed;
using testing::kernel;
using testing::small_system;

// HBM3-6400 with two pseudo channels: 51.2 GB/s.
DramConfig packet_memory() {
  DramConfig c = testing::dram(1_GiB, Bandwidth::from_base(51'200'000'000));
  c.atom.value = 32_B;
  c.latency.value = 300ns;
  c.packet_level.emplace();
  return c;
}

SystemConfig packet_system() {
  SystemConfig c = small_system();
  c.tiers["hbm"].memory = fixed<MemoryTier>(packet_memory());
  c.tiers["hbm"].memory.level = Level::packet;
  return c;
}

// Eight H100 on their switch.
SystemConfig packet_node(Level level) {
  const NvlinkNode node = testing::h100_node();
  NvlinkConfig port = node.port;
  port.packet_level = node.packet;
  HopConfig hop;
  hop.latency.value = 400ns;
  hop.crossings.value = 1;
  hop.packet_level = node.packet_switch;
  SystemConfig c = small_system();
  c.gpus.count = 8;
  c.links["nvlink"] = fixed<Link>(port);
  c.links["nvswitch"] = fixed<Link>(hop);
  c.links["nvlink"].level = c.links["nvswitch"].level = level;
  FabricConfig& fabric = c.fabrics["tensor"];
  fabric.collective = fixed<Collective>(testing::h100_direct());
  fabric.path = {"nvlink", "nvswitch"};
  return c;
}

Execution run(const StepGraph& graph, const System& system) {
  return execute(graph, system, system.plan(graph));
}

Op all_reduce(Bytes size, OpIds after = {}) {
  return {.kind = OpKind::collective,
          .phase = Phase::collective,
          .flops = {},
          .collective = {CollectiveKind::all_reduce, Fabric::tensor, size, 8},
          .after = std::move(after)};
}

Duration spent(const OpTiming& timing) {
  return timing.end - timing.flow;
}

TEST(PacketLevel, AKernelTakesWhatItsMemoryTakes) {
  const System system(packet_system());
  StepGraph graph = empty_graph(system);
  graph.add(kernel(system, 8_MiB, {}));
  const Execution e = run(graph, system);
  const DramProbe probe{.pattern = DramPattern::sequential,
                        .streams = 16,
                        .run = 4_KiB,
                        .outstanding_atoms = 4096,
                        .atoms = 262'144};
  const double sustained = run_dram_probe({}, probe).achieved * 51.2e9;
  EXPECT_NEAR(to_seconds(spent(e.timings[0])) * sustained / (8.0 * 1024 * 1024), 1.0, 0.01);
}

TEST(PacketLevel, TheRowIsNoPartOfTheStartUp) {
  const System packets(packet_system());
  SystemConfig flow_config = packet_system();
  flow_config.tiers["hbm"].memory.level = Level::flow;
  const System flow(flow_config);
  const Op op = kernel(packets, 8_MiB, {});
  // tRP + tRCD + tCL + burst of HBM3-6400: 80 clocks of .625 ns.
  EXPECT_EQ(flow.plan(op).setup - packets.plan(op).setup, 50ns);
}

TEST(PacketLevel, TheBoundKnowsThePayloadOnly) {
  const System system(packet_system());
  StepGraph graph = empty_graph(system);
  OpId last = graph.add(kernel(system, 1_MiB, 1_GFLOP));
  last = graph.add(copy(system, 333'333_B, {last}));
  graph.add(kernel(system, 77'777_B, {}, {last}));
  const OpPlans plans = system.plan(graph);
  const Duration bound = bound_of(graph, system, plans).time;
  const Duration time = execute(graph, system, plans).time;
  EXPECT_LE(bound, time);
  EXPECT_GE(to_seconds(bound) / to_seconds(time), 0.85);
}

// The link gives 8 GB/s: its bytes are written as they arrive, and slow a kernel by their share.
TEST(PacketLevel, ACopyWritesAtThePaceOfItsLink) {
  const System system(packet_system());
  StepGraph alone = empty_graph(system);
  alone.add(copy(system, 2_MiB));
  const Duration link = run(alone, system).time;
  EXPECT_NEAR(to_seconds(link), 2.0 * 1024 * 1024 / 8e9, 2e-6);

  StepGraph beside = empty_graph(system);
  beside.add(copy(system, 2_MiB));
  beside.add(kernel(system, 8_MiB, {}));
  StepGraph kernel_alone = empty_graph(system);
  kernel_alone.add(kernel(system, 8_MiB, {}));
  const double slower = to_seconds(spent(run(beside, system).timings[1])) /
                        to_seconds(spent(run(kernel_alone, system).timings[0]));
  // 10 GB while 8.4 GB are read, and turnarounds: more than the bytes, less than twice them.
  EXPECT_GT(slower, 1.15);
  EXPECT_LT(slower, 1.6);
}

TEST(PacketLevel, GpusThatShareAMemoryMeetInIt) {
  SystemConfig c = small_system();
  c.gpus.count = 2;
  c.shared.all = {"pool"};
  c.tiers["pool"].memory = fixed<MemoryTier>(packet_memory());
  c.tiers["pool"].memory.level = Level::packet;
  CopyEngineConfig fast = *config_of<CopyEngineConfig>(*c.copy_engine.spec);
  fast.to_gpu.value = fast.from_gpu.value = 1'000_GBps;
  PcieConfig wide = *config_of<PcieConfig>(*c.links["pcie"].spec);
  wide.raw.value = 1'000_GBps;
  c.copy_engine = fixed<Requester>(fast);
  c.links["pcie"] = fixed<Link>(wide);
  const System both(c);
  StepGraph graph = empty_graph(both);
  graph.add(copy(both, 2_MiB));
  c.shared.all.clear();
  const System each(c);
  const double ratio = to_seconds(run(graph, both).time) / to_seconds(run(graph, each).time);
  EXPECT_NEAR(ratio, 2.0, 0.1);
}

TEST(PacketLevel, ACollectiveIsThatOfTheFabric) {
  const System packets(packet_node(Level::packet));
  StepGraph graph = empty_graph(packets);
  graph.add(all_reduce(64_KiB));
  const auto library = make_device(testing::h100_direct());
  CollectiveProbeConfig config{.node = testing::h100_node(), .direct = testing::h100_direct()};
  EXPECT_EQ(run(graph, packets).time,
            run_collective_probe(config, *library, {.bytes = 64_KiB}).time);
  const System flow(packet_node(Level::flow));
  const double ratio = to_seconds(run(graph, packets).time) / to_seconds(run(graph, flow).time);
  EXPECT_NEAR(ratio, 1.0, 0.15);
}

// GPUs that share something are simulated one by one, and still reduce together.
TEST(PacketLevel, RanksThatComeAtDifferentTimesReduceTogether) {
  SystemConfig c = packet_node(Level::packet);
  c.shared.all = {"pcie"};
  const System system(c);
  StepGraph graph = empty_graph(system);
  const OpId fetched = graph.add(copy(system, 100'000_B));
  const OpId reduced = graph.add(all_reduce(64_KiB, {fetched}));
  graph.add(kernel(system, 1'000_B, {}, {reduced}));
  const Execution e = run(graph, system);
  for (std::int64_t gpu = 0; gpu < 8; ++gpu) {
    EXPECT_EQ(e.of_gpu(gpu)[1].end, e.of_gpu(0)[1].end) << gpu;
    EXPECT_GE(e.of_gpu(gpu)[1].start, e.of_gpu(gpu)[0].end) << gpu;
  }
}

}  // namespace
}  // namespace tiersim::packet_level_test
