// Collectives that contend on the fabric of a node.
#include "hwmodels/packet/collective/packet_collectives.hpp"

#include <gtest/gtest.h>

#include "sim/core/engine.hpp"
#include "tests/unit/packet/nvlink_h100.hpp"

namespace tiersim::packet_collectives_test {
namespace {

using namespace testing;

CollectiveWork all_reduce(Bytes size, std::int64_t ranks) {
  return {CollectiveKind::all_reduce, Fabric::tensor, size, ranks};
}

struct Ends final : EventHandler {
  std::vector<Duration> at = std::vector<Duration>(8);
  void on_event(Engine& engine, std::uint64_t tag) override {
    at[tag] = engine.now().time_since_epoch();
  }
};

// Eight H100 with NCCL.
struct Node {
  CollectiveProbeConfig config = h100_collectives();
  std::unique_ptr<Collective> library = make_device(*config.nccl);
  Engine engine;
  PacketFabric fabric{engine, shape_of(config.node, 8)};
  PacketCollectives collectives{engine, config, *library, fabric};
  Ends ends;

  Duration run(std::vector<std::pair<CollectiveWork, std::size_t>> all) {
    for (std::size_t i = 0; i < all.size(); ++i)
      collectives.start(all[i].first, all[i].second, ends, i);
    engine.run();
    return ends.at[all.size() - 1];
  }
};

TEST(PacketCollectives, OneAloneTakesWhatTheMicrobenchmarkTakes) {
  for (const Bytes size : {32_KiB, 1_MiB, 32_MiB}) {
    Node node;
    const auto alone = run_collective_probe(node.config, *node.library, {.bytes = size}).time;
    EXPECT_EQ(node.run({{all_reduce(size, 8), 0}}), alone) << size.in_base();
  }
}

TEST(PacketCollectives, GroupsWithPortsOfTheirOwnDoNotMeet) {
  Node both;
  Node one;
  const CollectiveWork work = all_reduce(1_MiB, 4);
  EXPECT_EQ(both.run({{work, 0}, {work, 4}}), one.run({{work, 4}}));
  EXPECT_EQ(both.ends.at[0], both.ends.at[1]);
}

// Each moves as much as alone, over the same links.
TEST(PacketCollectives, TwoOnTheSamePortsShareThem) {
  Node both;
  Node one;
  const CollectiveWork work = all_reduce(16_MiB, 8);
  const double ratio =
      to_seconds(both.run({{work, 0}, {work, 0}})) / to_seconds(one.run({{work, 0}}));
  EXPECT_GT(ratio, 1.5);
  EXPECT_LT(ratio, 2.0);
}

TEST(PacketCollectives, AnEndedOneMakesRoomForTheNext) {
  Node node;
  const CollectiveWork work = all_reduce(32_KiB, 8);
  const Duration first = node.run({{work, 0}});
  node.collectives.start(work, 0, node.ends, 1);
  node.engine.run();
  EXPECT_EQ(node.ends.at[1] - node.ends.at[0], first);
}

}  // namespace
}  // namespace tiersim::packet_collectives_test
