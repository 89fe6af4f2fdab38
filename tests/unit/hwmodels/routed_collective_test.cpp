// The collective over a topology: its equation, the choice of a variant, what it charges.
#include <gtest/gtest.h>

#include "hwmodels/collective/routed.hpp"
#include "sim/config/describe.hpp"
#include "tests/support/topologies.hpp"

namespace tiersim::routed_collective_test {
namespace {

using testing::one_domain;
using testing::rails;
using namespace literals;
using namespace std::chrono_literals;

RoutedVariant variant(RoutedAlgorithm algorithm, Duration start, double busy = 1) {
  RoutedVariant v;
  v.algorithm = algorithm;
  v.start.value = start;
  v.busy.value = busy;
  return v;
}

// A quick start with flags, and a slow one without.
RoutedConfig two_rings() {
  RoutedConfig c;
  c.variants["ll"] = variant(RoutedAlgorithm::ring, 1us, 0.5);
  c.variants["simple"] = variant(RoutedAlgorithm::ring, 10us);
  c.variants["direct"] = variant(RoutedAlgorithm::direct, 2us);
  return c;
}

CollectiveWork work(CollectiveKind kind, Bytes size, std::int64_t ranks) {
  return {.kind = kind, .fabric = Fabric::tensor, .size = size, .ranks = ranks};
}

TEST(Routed, IsStartAndHopsAndFlows) {
  const Topology t(rails(4, 8, 4));
  RoutedConfig c = two_rings();
  c.use = "simple";
  c.variants["simple"].near.value = 100ns;
  c.variants["simple"].far.value = 1us;
  c.variants["simple"].peer.value = 5s;  // a ring has no peers
  const auto device = make_device(c);    // it has the name of the algorithm
  const CollectiveCost cost =
      device->cost(work(CollectiveKind::all_reduce, 1_GiB, 32), {.topology = &t});
  // 2 * 31 steps, of which 2 * 3 between nodes.
  EXPECT_EQ(cost.latency, 10us + 56 * 100ns + 6 * 1us);
  // A step moves 1/256 of the size through each adapter at 10 GB/s.
  EXPECT_NEAR(to_seconds(cost.min_duration), 62 * (1024.0 * 1024 * 1024 / 256 / 10e9), 1e-9);
  EXPECT_EQ(cost.algorithm, "simple");
}

TEST(Routed, CountsPeersOfADirectExchange) {
  const Topology t(rails(4, 8, 4));
  RoutedConfig c = two_rings();
  c.variants["direct"].peer.value = 10ns;
  c.variants["direct"].far.value = 1us;
  const CollectiveCost cost =
      make_device(c)->cost(work(CollectiveKind::all_to_all, 1_MiB, 32), {.topology = &t});
  EXPECT_EQ(cost.latency, 2us + 31 * 10ns + 1us);
}

TEST(Routed, AutoTakesTheFastestOfEachSize) {
  const Topology t(one_domain(8));
  const auto device = make_device(two_rings());
  EXPECT_EQ(device->cost(work(CollectiveKind::all_reduce, 1_KiB, 8), {.topology = &t}).algorithm,
            "ll");
  EXPECT_EQ(device->cost(work(CollectiveKind::all_reduce, 1_GiB, 8), {.topology = &t}).algorithm,
            "simple");
  // Where `use` does not serve an operation, the others do.
  RoutedConfig c = two_rings();
  c.use = "direct";
  EXPECT_EQ(
      make_device(c)->cost(work(CollectiveKind::all_reduce, 1_KiB, 8), {.topology = &t}).algorithm,
      "ll");
}

TEST(Routed, ChargesTheDomainAndTheNetworkApart) {
  const Topology t(rails(4, 8, 4));
  RoutedConfig c = two_rings();
  c.use = "direct";
  const Bytes size = Bytes::from_base(3'200'000);
  const CollectiveCost cost =
      make_device(c)->cost(work(CollectiveKind::all_to_all, size, 32), {.topology = &t});
  // 24 of 32 pieces leave the node by this adapter; 7 go to neighbours, and 7/8 of those for other
  // nodes cross NVLink to their rail first.
  EXPECT_EQ(cost.far_out, Bytes::from_base(2'400'000));
  EXPECT_EQ(cost.far_in, cost.far_out);
  EXPECT_EQ(cost.out, Bytes::from_base(700'000 + 2'100'000));
  EXPECT_EQ(cost.in, cost.out);
}

TEST(Routed, OfOneRankIsNothing) {
  const Topology t(one_domain(8));
  const CollectiveCost cost =
      make_device(two_rings())->cost(work(CollectiveKind::all_reduce, 1_GiB, 1), {.topology = &t});
  EXPECT_EQ(cost.latency + cost.min_duration, Duration{});
  EXPECT_EQ(cost.out, Bytes{});
}

TEST(Routed, NeverTakesLessForMoreBytesOrMoreOversubscription) {
  TopologyConfig config = rails(8, 4, 2);
  const Topology even(config);
  config.network->oversubscription.value = 3;
  config.network->through_rail = false;
  const Topology narrow(config);
  const auto device = make_device(two_rings());
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                    CollectiveKind::all_to_all, CollectiveKind::send}) {
    Duration before{};
    for (Bytes size = 1_KiB; size <= 1_GiB; size = size * 4) {
      const auto time = [&](const Topology& t) {
        const CollectiveCost cost = device->cost(work(kind, size, 32), {.topology = &t});
        return cost.latency + cost.min_duration;
      };
      EXPECT_GE(time(even), before);
      EXPECT_GE(time(narrow), time(even));
      before = time(even);
    }
  }
}

// Thousands of kinds of flows are not simulated one by one, and the name says so.
TEST(Routed, SaysWhereItIsABound) {
  TopologyConfig config = rails(96, 1, 1, 8);  // hashed paths: no two flows are alike
  const Topology hashed(config);
  const auto device = make_device(two_rings());
  EXPECT_EQ(
      device->cost(work(CollectiveKind::all_to_all, 1_MiB, 96), {.topology = &hashed}).algorithm,
      "direct, bound");
  config.network->routing = PathChoice::adaptive;
  const Topology adaptive(config);
  EXPECT_EQ(
      device->cost(work(CollectiveKind::all_to_all, 1_MiB, 96), {.topology = &adaptive}).algorithm,
      "direct");
}

std::string mistakes(const std::string& yaml) {
  Diagnostics diagnostics;
  const Document document = load_text(yaml, "c.yaml", {}, diagnostics);
  read<RoutedConfig>(document, "device", diagnostics);
  return diagnostics.text();
}

TEST(RoutedMistakes, AreNamed) {
  EXPECT_NE(mistakes("variants: {a: {algorithm: ring, start: 1 us}}").find("no direct exchange"),
            std::string::npos);
  const std::string use = mistakes(
      "use: x\nvariants: {a: {algorithm: ring, start: 1 us}, b: {algorithm: direct, "
      "start: 1 us}}");
  EXPECT_NE(use.find("is no variant: 'x'"), std::string::npos) << use;
  const std::string nodes = mistakes(
      "variants: {a: {algorithm: ring, start: 1 us}, b: {algorithm: direct, start: 1 us, "
      "most_nodes: 4}}");
  EXPECT_NE(nodes.find("most_nodes: is for algorithm moe_normal"), std::string::npos) << nodes;
}

}  // namespace
}  // namespace tiersim::routed_collective_test
