// Topologies: which parts there are, and which links a path crosses.
#include <set>

#include <gtest/gtest.h>

#include "hwmodels/topology/topology_facts.hpp"
#include "sim/config/describe.hpp"
#include "sim/step/importers.hpp"
#include "tests/support/topologies.hpp"

namespace tiersim::topology_test {
namespace {

using testing::dragonfly;
using testing::one_domain;
using testing::rails;
using testing::torus;
using namespace literals;
using namespace std::chrono_literals;

std::vector<std::string> parts_on(const Topology& t, const LinkRoute& route) {
  std::vector<std::string> names;
  for (const std::int32_t link : route)
    names.push_back(t.name(t.links()[static_cast<std::size_t>(link)].to));
  return names;
}

// Every path begins and ends at its GPUs and is connected.
void expect_a_path(const Topology& t, std::int64_t from, std::int64_t to, std::int64_t path = 0) {
  std::int32_t at = static_cast<std::int32_t>(from);
  std::set<std::int32_t> crossed;
  for (const std::int32_t link : t.route(from, to, path)) {
    const TopologyLink& l = t.links()[static_cast<std::size_t>(link)];
    ASSERT_EQ(l.from, at);
    ASSERT_TRUE(crossed.insert(link).second) << "crosses a link twice";
    at = l.to;
  }
  ASSERT_EQ(at, to);
}

TEST(Topology, ADomainIsTwoLinksOverItsSwitch) {
  const Topology t(one_domain(8));
  EXPECT_EQ(parts_on(t, t.route(1, 6)), (std::vector<std::string>{"nvswitch 0", "gpu 6"}));
  EXPECT_EQ(t.latency(t.route(1, 6)), 200ns);
  EXPECT_TRUE(t.route(3, 3).empty());
}

TEST(Topology, ARailIsOneLeaf) {
  const Topology t(rails(4, 8, 4));
  EXPECT_EQ(parts_on(t, t.route(1, 9)),
            (std::vector<std::string>{"pcie switch 1", "adapter 1", "leaf 1", "adapter 9",
                                      "pcie switch 9", "gpu 9"}));
  // Four PCIe links, an adapter with half a hop at either end of the leaf.
  EXPECT_EQ(t.latency(t.route(1, 9)), 4 * 100ns + 2 * (50ns + 10ns));
}

TEST(Topology, AnotherRailIsReachedOverNvlinkOrOverASpine) {
  TopologyConfig c = rails(4, 8, 4);
  EXPECT_EQ(parts_on(Topology(c), Topology(c).route(0, 9)),
            (std::vector<std::string>{"nvswitch 0", "gpu 1", "pcie switch 1", "adapter 1", "leaf 1",
                                      "adapter 9", "pcie switch 9", "gpu 9"}));
  c.network->through_rail = false;
  c.network->spines = 1;
  EXPECT_EQ(parts_on(Topology(c), Topology(c).route(0, 9)),
            (std::vector<std::string>{"pcie switch 0", "adapter 0", "leaf 0", "spine 0", "leaf 1",
                                      "adapter 9", "pcie switch 9", "gpu 9"}));
}

TEST(Topology, GpusOfANodeWithoutNvlinkMeetAtTheirSwitchOrCpu) {
  TopologyConfig c = rails(2, 4, 2);
  c.nvlink.reset();
  c.pcie->switches = 2;
  c.pcie->cpus = 2;
  c.pcie->between_cpus = Sourced<Bandwidth>{20_GBps};
  const Topology t(c);
  EXPECT_EQ(parts_on(t, t.route(0, 1)), (std::vector<std::string>{"pcie switch 0", "gpu 1"}));
  EXPECT_EQ(parts_on(t, t.route(0, 3)), (std::vector<std::string>{"pcie switch 0", "cpu 0", "cpu 1",
                                                                  "pcie switch 1", "gpu 3"}));
}

TEST(Topology, APoolIsBehindTheCpusOfItsNodesAlone) {
  TopologyConfig c = rails(4, 2, 4);
  c.pools.emplace();
  c.pools->nodes_per_switch = 2;
  c.pools->per_switch = 3;
  c.pools->port.value = 5_GBps;
  c.pools->device.value = 2_GBps;
  const Topology t(c);
  EXPECT_EQ(t.pools(), 6);
  EXPECT_EQ(parts_on(t, t.route_to_pool(3, 2)),
            (std::vector<std::string>{"pcie switch 3", "cpu 1", "cxl switch 0", "pool 2"}));
  EXPECT_TRUE(t.route_to_pool(3, 3).empty()) << "another rack's";
}

TEST(Topology, HashedPathsAreTheSameEachTimeAndUseEverySpine) {
  TopologyConfig c = rails(16, 1, 1, 4);
  c.network->paths = 2;
  const Topology t(c);
  std::set<std::string> spines;
  for (std::int64_t from = 0; from < 16; ++from)
    for (std::int64_t to = 0; to < 16; ++to)
      for (std::int64_t path = 0; path < 2 && from != to; ++path) {
        const auto parts = parts_on(t, t.route(from, to, path));
        EXPECT_EQ(parts, parts_on(Topology(c), t.route(from, to, path)));
        spines.insert(parts[3]);
      }
  EXPECT_EQ(spines.size(), 4);
  c.network->seed = 2;
  int moved = 0;
  for (std::int64_t to = 1; to < 16; ++to)
    moved += parts_on(t, t.route(0, to)) != parts_on(t, Topology(c).route(0, to)) ? 1 : 0;
  EXPECT_GT(moved, 0);
}

TEST(Topology, AdaptiveRoutingHasOneSwitchATier) {
  TopologyConfig c = rails(16, 1, 1, 4);
  c.network->routing = PathChoice::adaptive;
  const TopologyFacts facts = facts_of(Topology(c));
  const auto spine = std::ranges::find(facts.parts, "spine", &TopologyFacts::Parts::name);
  ASSERT_NE(spine, facts.parts.end());
  EXPECT_EQ(spine->count, 1);
}

TEST(Topology, ATorusTakesTheShortWayRound) {
  const Topology t(torus({4, 6, 3}));
  const auto steps = [](std::int64_t a, std::int64_t b, std::int64_t dim) {
    const std::int64_t d = std::abs(a - b);
    return std::min(d, dim - d);
  };
  for (std::int64_t from = 0; from < 72; ++from)
    for (std::int64_t to = 0; to < 72; ++to) {
      if (from == to) continue;
      expect_a_path(t, from, to);
      const std::int64_t hops = steps(from % 4, to % 4, 4) + steps(from / 4 % 6, to / 4 % 6, 6) +
                                steps(from / 24, to / 24, 3);
      EXPECT_EQ(t.route(from, to).size(), static_cast<std::size_t>(hops + 2));
    }
}

TEST(Topology, ADragonflyCrossesOneGlobalLinkAtMost) {
  const Topology t(dragonfly(9, 4, 2, 80_GBps, 40_GBps));
  for (std::int64_t from = 0; from < t.gpus(); ++from)
    for (std::int64_t to = 0; to < t.gpus(); ++to) {
      if (from == to) continue;
      expect_a_path(t, from, to);
      int global = 0;
      for (const std::int32_t link : t.route(from, to))
        global += t.links()[static_cast<std::size_t>(link)].capacity == 40_GBps &&
                          t.link_name(link).starts_with("router")
                      ? 1
                      : 0;
      EXPECT_EQ(global, from / 8 == to / 8 ? 0 : 1);
    }
}

TEST(Topology, AMeshHasALinkForEachPair) {
  TopologyConfig c = one_domain(8);
  c.nvlink->shape = DomainShape::mesh;
  c.nvlink->port.value = 70_GBps;
  const Topology t(c);
  EXPECT_EQ(t.links().size(), 8 * 7);
  EXPECT_EQ(t.route(0, 7).size(), 1);
  EXPECT_EQ(t.links().front().capacity, 10_GBps);
  EXPECT_FALSE(t.has_switches());
}

std::vector<std::string> shipped_topologies() {
  std::vector<std::string> out;
  const std::filesystem::path folder =
      std::filesystem::path(TIERSIM_SOURCE_DIR) / "configs/topologies";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    out.push_back(entry.path().stem().string());
  std::ranges::sort(out);
  return out;
}

class ShippedTopology : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, ShippedTopology, ::testing::ValuesIn(shipped_topologies()),
                         [](const auto& test) { return test.param; });

TEST_P(ShippedTopology, IsReadAndEveryGpuReachesEveryOther) {
  const std::filesystem::path configs = std::filesystem::path(TIERSIM_SOURCE_DIR) / "configs";
  Diagnostics diagnostics;
  const Document document =
      load_document(configs / "topologies" / (GetParam() + ".yaml"),
                    {.config_root = configs, .importers = make_all_importers()}, diagnostics);
  const auto config = read<TopologyConfig>(document, "topology", diagnostics);
  ASSERT_EQ(diagnostics.text(), "");
  for (const SourcedNumber& number : list_numbers(config))
    EXPECT_NE(number.source, "not stated") << number.path;
  const Topology t(config);
  EXPECT_EQ(t.gpus(), config.gpus());
  const std::int64_t stride = std::max<std::int64_t>(1, t.gpus() / 97);
  for (std::int64_t from = 0; from < t.gpus(); from += stride)
    for (std::int64_t to = 0; to < t.gpus(); ++to)
      if (from != to) expect_a_path(t, from, to);
  const TopologyFacts facts = facts_of(t);
  EXPECT_GT(facts.bisection, Bandwidth{});
  EXPECT_GT(facts.bisection_share, 0);
  EXPECT_LE(facts.bisection_share, 1.0001);
  for (const auto& path : facts.paths) EXPECT_GT(path.latency, Duration{}) << path.name;
}

std::string mistakes(const std::string& yaml) {
  Diagnostics diagnostics;
  const Document document =
      load_text("schema: tiersim.topology/v1\n" + yaml, "t.yaml", {}, diagnostics);
  read<TopologyConfig>(document, "topology", diagnostics);
  return diagnostics.text();
}

TEST(TopologyMistakes, AreNamedAllAtOnce) {
  const std::string text = mistakes(R"(nodes: 3
gpus_per_node: 8
nvlink: {gpus: 5, port: 100 GB/s, latency: 1 us}
pcie: {switches: 3, cpus: 2, link: 40 GB/s, latency: 1 us}
adapters: {per_node: 3, port: 10 GB/s, latency: 1 us}
network: {kind: leaf_spine, hop: 1 us, nodes_per_leaf: 2, spines: 1}
)");
  for (const char* expected :
       {"nvlink.gpus: is neither whole nodes", "pcie.switches: do not divide",
        "pcie.cpus: do not divide", "pcie.cpus: are not joined",
        "adapters.per_node: does not divide", "network.nodes_per_leaf: does not divide"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << " in:\n" << text;
}

TEST(TopologyMistakes, WhatIsNotJoinedIsRefused) {
  EXPECT_NE(mistakes("nodes: 2\ngpus_per_node: 1\n").find("joined neither by NVLink nor"),
            std::string::npos);
  EXPECT_NE(mistakes("nodes: 1\ngpus_per_node: 2\n").find("neither by one NVLink domain nor"),
            std::string::npos);
  const std::string torus_text = mistakes(
      "nodes: 6\ngpus_per_node: 1\nnetwork: {kind: torus, hop: 1 us, dims: [2, 2], link: "
      "10 GB/s}\n");
  EXPECT_NE(torus_text.find("another number of GPUs"), std::string::npos) << torus_text;
}

}  // namespace
}  // namespace tiersim::topology_test
