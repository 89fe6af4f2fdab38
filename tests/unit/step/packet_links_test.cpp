// Steps over PCIe and CXL links at packet level, in the executor and in the plan.
#include <gtest/gtest.h>

#include "hwmodels/link/cxl.hpp"
#include "hwmodels/link/hop.hpp"
#include "sim/step/bound.hpp"
#include "sim/step/executor.hpp"
#include "tests/unit/step/small_system.hpp"

namespace tiersim::packet_links_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::copy;
using testing::empty_graph;
using testing::fixed;
using testing::small_system;

// 10 GB/s of wire: a read of MPS 256 B gives 10 x 256 / 276, a write 10 x 256 / 280.
PcieConfig packet_pcie() {
  PcieConfig c;
  c.raw.value = 10_GBps;
  c.link_efficiency.value = 1.0;
  c.max_payload.value = 256_B;
  c.max_read_request.value = 512_B;
  c.latency.value = 1000ns;
  c.packet_level.emplace();
  c.packet_level->framing.link_packet.value = c.packet_level->framing.skip.value = 0_B;
  c.packet_level->host.read_latency.value = 1000ns;
  c.packet_level->host.write_latency.value = 500ns;
  return c;
}
CxlConfig packet_cxl() {
  CxlConfig c = testing::cxl_port();
  c.packet_level.emplace();
  c.packet_level->host.latency.value = 150ns;
  c.packet_level->host.outstanding.value = c.packet_level->device.outstanding.value = 4096;
  for (auto* credits : {&c.packet_level->credits.requests, &c.packet_level->credits.writes,
                        &c.packet_level->credits.responses})
    credits->value = 4096;
  return c;
}

// pcie, then a hop of 90 ns, then CXL, then a memory of 100 ns, with a fast engine.
SystemConfig chain(Level pcie, Level cxl) {
  SystemConfig c = small_system();
  c.links["pcie"] = fixed<Link>(packet_pcie());
  c.links["pcie"].level = pcie;
  HopConfig hop;
  hop.latency.value = 90ns;
  hop.crossings.value = 1;
  c.links["hop"] = fixed<Link>(hop);
  c.links["cxl"] = fixed<Link>(packet_cxl());
  c.links["cxl"].level = cxl;
  c.tiers["pool"].path = {"pcie", "hop", "cxl"};
  CopyEngineConfig fast = *config_of<CopyEngineConfig>(*c.copy_engine.spec);
  fast.to_gpu.value = fast.from_gpu.value = 1'000_GBps;
  c.copy_engine = fixed<Requester>(fast);
  return c;
}

Op store(const System& system, Bytes bytes, Bytes run) {
  return {.kind = OpKind::transfer,
          .phase = Phase::gather,
          .requester = RequesterKind::copy_engine,
          .flops = {},
          .accesses = {{system.tier("pool"), Direction::write, TensorClass::keys, bytes, run}}};
}
Op load(const System& system, Bytes bytes, Bytes run) {
  Op op = store(system, bytes, run);
  op.accesses.front().direction = Direction::read;
  return op;
}

Duration time_of(const System& system, const Op& op) {
  StepGraph graph = empty_graph(system);
  graph.add(op);
  return execute(graph, system, system.plan(graph)).time;
}

// No part of the 1340 ns is counted twice, whichever links are at packet level.
TEST(PacketLinks, TheWayIsTakenOnce) {
  const System flow(chain(Level::flow, Level::flow));
  const Duration of_flow = time_of(flow, load(flow, 64_B, 64_B));
  for (const auto& [pcie, cxl] :
       {std::pair{Level::packet, Level::flow}, std::pair{Level::flow, Level::packet},
        std::pair{Level::packet, Level::packet}}) {
    const System system(chain(pcie, cxl));
    // The flow level does not serialise requests and headers: 2.4 ns of PCIe and three flits of 2.2
    // ns.
    EXPECT_NEAR(to_seconds(time_of(system, load(system, 64_B, 64_B)) - of_flow) * 1e9, 0, 10);
    EXPECT_NEAR(to_seconds(time_of(system, store(system, 64_B, 64_B)) -
                           time_of(flow, store(flow, 64_B, 64_B))) *
                    1e9,
                0, 10);
  }
}

TEST(PacketLinks, AloneTheyTakeWhatTheFlowLevelTakes) {
  const System flow(chain(Level::flow, Level::flow));
  const System packets(chain(Level::packet, Level::packet));
  for (const Bytes run : {64_B, 256_B, 4_KiB}) {
    for (const Bytes payload : {64 * 4_KiB, 1024 * 4_KiB}) {
      const double ratio = to_seconds(time_of(packets, load(packets, payload, run))) /
                           to_seconds(time_of(flow, load(flow, payload, run)));
      EXPECT_NEAR(ratio, 1, 0.02) << run.in_base();
      const double written = to_seconds(time_of(packets, store(packets, payload, run))) /
                             to_seconds(time_of(flow, store(flow, payload, run)));
      EXPECT_NEAR(written, 1, 0.02) << run.in_base();
    }
  }
}

// 16 tags of 512 B, and 1340 ns until one of them is free again.
TEST(PacketLinks, TagsWaitForTheWholeWay) {
  SystemConfig c = chain(Level::packet, Level::flow);
  PcieConfig few = packet_pcie();
  few.packet_level->requester.tags.value = 16;
  c.links["pcie"] = fixed<Link>(few);
  c.links["pcie"].level = Level::packet;
  const System system(c);
  // A request of 24 B and two completions of 276 B on the wire.
  const double trip = 1340 + 2.4 + 55.2;
  EXPECT_NEAR(to_seconds(time_of(system, load(system, 1_MiB, 4_KiB))) * 1e9,
              1024.0 * 1024 / (16 * 512) * trip, 0.01 * 128 * trip);
}

TEST(PacketLinks, GpusThatShareALinkMeetInIt) {
  SystemConfig c = chain(Level::packet, Level::packet);
  c.gpus.count = 2;
  const System each(c);
  const double alone = to_seconds(time_of(each, load(each, 1_MiB, 4_KiB)));
  c.shared.all = {"pcie"};
  const System both(c);
  EXPECT_NEAR(to_seconds(time_of(both, load(both, 1_MiB, 4_KiB))) / alone, 2, 0.04);
}

TEST(PacketLinks, TheBoundKnowsThePayloadOnly) {
  const System system(chain(Level::packet, Level::packet));
  StepGraph graph = empty_graph(system);
  OpId last = graph.add(copy(system, 333'333_B));
  last = graph.add(copy(system, 65'536_B, {last}));
  const OpPlans plans = system.plan(graph);
  const Duration bound = bound_of(graph, system, plans).time;
  const Duration time = execute(graph, system, plans).time;
  EXPECT_LE(bound, time);
  EXPECT_GE(to_seconds(bound) / to_seconds(time), 0.85);
}

}  // namespace
}  // namespace tiersim::packet_links_test
