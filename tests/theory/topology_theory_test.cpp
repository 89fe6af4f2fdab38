// Transfers and collectives over a topology against closed forms: bisection, incast, hot spots,
// rings, all-to-all.
#include <cmath>

#include <gtest/gtest.h>

#include "hwmodels/collective/routed.hpp"
#include "hwmodels/topology/topology_facts.hpp"
#include "hwmodels/topology/transfers.hpp"
#include "tests/support/topologies.hpp"

namespace tiersim::topology_theory_test {
namespace {

using testing::dragonfly;
using testing::one_domain;
using testing::rails;
using testing::torus;
using namespace literals;
using namespace std::chrono_literals;

constexpr Bytes kTenMb = Bytes::from_base(10'000'000);
constexpr Bytes kEightMb = Bytes::from_base(8'000'000);

TransferTimes times(const Topology& t, const std::vector<Transfer>& transfers) {
  return simulate(t, groups_of(t, routed(t, transfers)));
}

double seconds(const Topology& t, const std::vector<Transfer>& transfers) {
  return to_seconds(times(t, transfers).all);
}

TEST(Bisection, OfADomainIsThePortsOfHalf) {
  EXPECT_EQ(facts_of(Topology(one_domain(8))).bisection, 400_GBps);
}

TEST(Bisection, OfRailsIsTheAdaptersOfHalf) {
  EXPECT_EQ(facts_of(Topology(rails(4, 8, 4))).bisection, 2 * 8 * 10_GBps);
  EXPECT_EQ(facts_of(Topology(rails(4, 8, 2))).bisection, 2 * 8 * 10_GBps) << "over spines";
}

TEST(Bisection, FallsWithOversubscription) {
  TopologyConfig c = rails(8, 2, 4, 4);
  c.network->oversubscription.value = 4;
  const TopologyFacts facts = facts_of(Topology(c));
  EXPECT_EQ(facts.bisection, 20_GBps);  // 4 nodes x 2 x 10 GB/s / 4
  EXPECT_DOUBLE_EQ(facts.bisection_share, 0.25);
}

// A ring is cut twice for each line of GPUs across the cut; a line of two has one cable.
TEST(Bisection, OfATorusIsTwoLinksALine) {
  EXPECT_EQ(facts_of(Topology(torus({4, 4}))).bisection, 2 * 4 * 10_GBps);
  EXPECT_EQ(facts_of(Topology(torus({4, 4, 6}))).bisection, 2 * 16 * 10_GBps);
  EXPECT_EQ(facts_of(Topology(torus({4, 2}))).bisection, 4 * 10_GBps);
}

// Half of the groups have a global link to each of the other half.
TEST(Bisection, OfADragonflyIsItsGlobalLinks) {
  const TopologyFacts facts = facts_of(Topology(dragonfly(4, 4, 8, 800_GBps, 5_GBps)));
  EXPECT_EQ(facts.bisection, 2 * 2 * 5_GBps);
}

TEST(Incast, TakesTheReceiversPort) {
  const Topology t(rails(8, 1, 8));
  std::vector<Transfer> all;
  for (std::int32_t from = 1; from < 8; ++from) all.push_back({from, 0, kTenMb});
  EXPECT_DOUBLE_EQ(seconds(t, all), 7 * 1e-3);  // 7 x 10 MB at 10 GB/s
  EXPECT_EQ(t.link_name(times(t, all).busiest), "leaf 0 to adapter 0");
}

// The victim shares the leaf's uplink with flows that a slower port holds back.
TEST(HotSpot, LeavesWhatItCannotUseToOthers) {
  TopologyConfig c = rails(6, 1, 3, 1);
  c.network->oversubscription.value = 3;  // 10 GB/s between the leaves
  const Topology t(c);
  // Two flows to GPU 3, which gets 10 GB/s from its own leaf as well; one flow to GPU 4.
  const std::vector<Transfer> all{{0, 3, kTenMb}, {4, 3, kTenMb}, {5, 3, kTenMb}, {1, 4, kTenMb}};
  const std::vector<Duration> ends = ends_of(t, routed(t, all));
  // GPU 3 gives a third of its port to each; the uplink then has 6.67 GB/s for the victim.
  EXPECT_NEAR(to_seconds(ends[3]), 10e6 / (10e9 * 2 / 3), 1e-9);
  EXPECT_NEAR(to_seconds(ends[0]), 3e-3, 1e-9);
}

TEST(Oversubscription, MultipliesTheTimeBetweenLeaves) {
  for (const double factor : {1.0, 2.0, 4.0}) {
    TopologyConfig c = rails(8, 1, 4, 1);
    c.network->oversubscription.value = factor;
    const Topology t(c);
    std::vector<Transfer> across;
    for (std::int32_t i = 0; i < 4; ++i) across.push_back({i, i + 4, kTenMb});
    EXPECT_NEAR(seconds(t, across), factor * 1e-3, 1e-12) << factor;
  }
}

// Two flows on the same spine take twice as long as on two; adaptive routing shares all.
TEST(Hashing, MakesSomeFlowsMeet) {
  TopologyConfig c = rails(16, 1, 8, 8);
  std::vector<Transfer> across;
  for (std::int32_t i = 0; i < 8; ++i) across.push_back({i, i + 8, kEightMb});
  c.network->routing = PathChoice::adaptive;
  EXPECT_NEAR(seconds(Topology(c), across), 0.8e-3, 1e-12);
  c.network->routing = PathChoice::ecmp;
  const double hashed = seconds(Topology(c), across);
  EXPECT_GE(hashed, 1.6e-3 - 1e-12);  // 8 flows on 8 spines at random: some two meet
  EXPECT_NEAR(hashed / 0.8e-3, std::round(hashed / 0.8e-3), 1e-6);
  c.network->paths = 64;
  EXPECT_LT(seconds(Topology(c), across), hashed) << "many small flows spread better";
}

RoutedConfig variant(RoutedAlgorithm algorithm) {
  RoutedConfig c;
  c.variants["ring"].algorithm = RoutedAlgorithm::ring;
  c.variants["direct"].algorithm = RoutedAlgorithm::direct;
  c.variants["chosen"].algorithm = algorithm;
  c.use = "chosen";
  return c;
}

// Of a collective without latencies, in units of the time that its size takes on one port.
double ports(const TopologyConfig& config, RoutedAlgorithm algorithm, CollectiveWork work,
             Bandwidth port) {
  const Topology topology(config);
  work.size = 1_GB;
  const CollectiveCost cost = make_device(variant(algorithm))->cost(work, {.topology = &topology});
  return to_seconds(cost.min_duration) / to_seconds(work.size / port);
}

CollectiveWork of(CollectiveKind kind, std::int64_t ranks) {
  return {.kind = kind, .fabric = Fabric::tensor, .size = {}, .ranks = ranks};
}

TEST(Ring, SendsEachPieceTwiceRound) {
  for (const std::int64_t n : {2, 4, 8}) {
    const auto ranks = static_cast<double>(n);
    EXPECT_NEAR(
        ports(one_domain(8), RoutedAlgorithm::ring, of(CollectiveKind::all_reduce, n), 100_GBps),
        2 * (ranks - 1) / ranks, 1e-6);
    EXPECT_NEAR(
        ports(one_domain(8), RoutedAlgorithm::ring, of(CollectiveKind::all_gather, n), 100_GBps),
        (ranks - 1) / ranks, 1e-6);
  }
}

// Eight rings of 1/8 each leave a node by one adapter each.
TEST(Ring, UsesEveryAdapterOfANode) {
  const double n = 32;
  EXPECT_NEAR(
      ports(rails(4, 8, 4), RoutedAlgorithm::ring, of(CollectiveKind::all_reduce, 32), 8 * 10_GBps),
      2 * (n - 1) / n, 1e-6);
}

// A node has two children and a parent in one tree, and a parent in the other: half of the size
// four times through its adapters, down as much as up.
TEST(Tree, SendsTheSizeTwiceThroughTheAdapters) {
  for (const std::int64_t nodes : {4, 8, 16, 5, 7})
    EXPECT_NEAR(ports(rails(nodes, 8, nodes), RoutedAlgorithm::tree,
                      of(CollectiveKind::all_reduce, 8 * nodes), 8 * 10_GBps),
                2, 0.51)
        << nodes;
  TopologyConfig pair = rails(2, 8, 2);
  pair.nvlink->port.value = 1000_GBps;
  EXPECT_NEAR(ports(pair, RoutedAlgorithm::tree, of(CollectiveKind::all_reduce, 16), 8 * 10_GBps),
              1, 1e-6)
      << "two nodes exchange halves";
}

TEST(Nvls, SendsTheSizeOnceAndItsPartOnce) {
  EXPECT_NEAR(
      ports(one_domain(8), RoutedAlgorithm::nvls, of(CollectiveKind::all_reduce, 8), 100_GBps),
      9.0 / 8, 1e-6);
}

TEST(Hierarchical, IsThreePhases) {
  // In a node 7/8 of the size at 100 GB/s, twice; between 4 nodes 2 * 3/4 of an eighth at 10 GB/s.
  const double near = 7.0 / 8 / 100;
  const double far = 2 * 3.0 / 4 / 8 / 10;
  EXPECT_NEAR(ports(rails(4, 8, 4), RoutedAlgorithm::hierarchical,
                    of(CollectiveKind::all_reduce, 32), 1_GBps),
              2 * near + far, 1e-6);
}

TEST(AllToAll, InADomainTakesAllButTheOwnPart) {
  for (const std::int64_t n : {2, 4, 8})
    EXPECT_NEAR(
        ports(one_domain(8), RoutedAlgorithm::direct, of(CollectiveKind::all_to_all, n), 100_GBps),
        static_cast<double>(n - 1) / static_cast<double>(n), 1e-6);
}

// Along rails, with NVLink or without, every adapter sends what is for other nodes.
TEST(AllToAll, BetweenNodesIsWhatIsForOtherNodes) {
  for (const RoutedAlgorithm algorithm : {RoutedAlgorithm::direct, RoutedAlgorithm::two_level}) {
    const double far = 3.0 / 4 / 10;
    const double near = algorithm == RoutedAlgorithm::two_level ? 7.0 / 8 / 100 : 0;
    EXPECT_NEAR(ports(rails(4, 8, 4), algorithm, of(CollectiveKind::all_to_all, 32), 1_GBps),
                far + near, 1e-6)
        << name(algorithm);
  }
}

TEST(AllToAll, OfAHotReceiverTakesItsShare) {
  CollectiveWork work = of(CollectiveKind::all_to_all, 8);
  work.hot = 3;
  EXPECT_NEAR(ports(one_domain(8), RoutedAlgorithm::moe_low_latency, work, 100_GBps), 3 * 7.0 / 8,
              1e-6);
}

// A token with 8 experts reaches 4 (1 - (3/4)^8) of 4 nodes, so the adapters send 3/4 of that
// instead of 8 copies, of which 3/4 leave the node.
TEST(MoeNormal, SendsATokenOnceToANode) {
  CollectiveWork work = of(CollectiveKind::all_to_all, 32);
  work.copies = 8;
  const double nodes = 4 * (1 - std::pow(0.75, 8));
  EXPECT_NEAR(ports(rails(4, 8, 4), RoutedAlgorithm::moe_normal, work, 10_GBps), nodes / 4 * 3 / 8,
              1e-4);
  EXPECT_NEAR(ports(rails(4, 8, 4), RoutedAlgorithm::moe_low_latency, work, 10_GBps), 0.75, 1e-4);
}

// Of 1152 GPUs, one of each kind is simulated; a ring of a few, all of which are alike.
TEST(Symmetry, SimulatesAsManyFlowsAsThereAreKinds) {
  const Topology t(rails(144, 8, 144));
  for (const RoutedAlgorithm algorithm : {RoutedAlgorithm::ring, RoutedAlgorithm::direct}) {
    CollectiveWork work = of(algorithm == RoutedAlgorithm::ring ? CollectiveKind::all_gather
                                                                : CollectiveKind::all_to_all,
                             1152);
    work.size = 1_GB;
    const TransferTimes times =
        simulate(t, groups_of(t, phases_of(algorithm, t, work).front(), 1152));
    EXPECT_GE(times.flows, 1151);
    EXPECT_LE(times.groups, 16) << name(algorithm);
  }
}

// What is made and simulated for a pattern grows no faster than GPUs times adapters of a node.
TEST(Symmetry, CostGrowsNoFasterThanTheGpus) {
  for (const std::int64_t nodes : {1, 4, 16, 36, 72, 144}) {
    const Topology t(rails(nodes, 8, nodes));
    const std::int64_t ranks = 8 * nodes;
    for (std::size_t a = 0; a < kRoutedAlgorithmNames.size(); ++a)
      for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_to_all}) {
        CollectiveWork work = of(kind, ranks);
        work.size = 1_GB;
        work.copies = 8;
        if (!serves(static_cast<RoutedAlgorithm>(a), t, work)) continue;
        for (const CollectivePhase& phase : phases_of(static_cast<RoutedAlgorithm>(a), t, work)) {
          EXPECT_LE(phase.flows.size(), static_cast<std::size_t>(36 * ranks))
              << kRoutedAlgorithmNames[a] << " on " << ranks;
          EXPECT_LE(groups_of(t, phase, ranks).size(), static_cast<std::size_t>(16 + ranks / 2));
        }
      }
  }
}

}  // namespace
}  // namespace tiersim::topology_theory_test
