// Random topologies with random transfers: what is alike is simulated once, and ends as if each
// flow were simulated by itself; no flow ends before the bound; rates are max-min fair.
#include <set>

#include <gtest/gtest.h>

#include "hwmodels/topology/collective_flows.hpp"
#include "hwmodels/topology/symmetry.hpp"
#include "sim/base/rng.hpp"
#include "tests/support/test_length.hpp"
#include "tests/support/topologies.hpp"

namespace tiersim::topology_symmetry_test {
namespace {

using testing::dragonfly;
using testing::one_domain;
using testing::rails;
using testing::torus;
using namespace literals;

std::int64_t one_of(Rng& rng, std::initializer_list<std::int64_t> values) {
  return *(values.begin() + static_cast<std::ptrdiff_t>(rng.below(values.size())));
}

TopologyConfig random_topology(Rng& rng) {
  switch (rng.below(5)) {
    case 0:
      return one_domain(one_of(rng, {2, 4, 8}));
    case 1:
      return torus({one_of(rng, {1, 2, 3, 4}), one_of(rng, {2, 3, 4})});
    case 2:
      return dragonfly(one_of(rng, {2, 3, 4}), one_of(rng, {1, 2, 3}), one_of(rng, {1, 2}), 15_GBps,
                       7_GBps);
    default:
      break;
  }
  const std::int64_t per_leaf = one_of(rng, {1, 2, 3});
  TopologyConfig c = rails(per_leaf * one_of(rng, {1, 2, 3}), one_of(rng, {1, 2, 4}), per_leaf,
                           one_of(rng, {1, 2, 3}));
  c.network->oversubscription.value = static_cast<double>(one_of(rng, {1, 2, 3}));
  c.network->routing = rng.below(2) == 0 ? PathChoice::ecmp : PathChoice::adaptive;
  c.network->paths = one_of(rng, {1, 2});
  c.network->rails = rng.below(3) > 0;
  c.network->through_rail = rng.below(2) == 0;
  c.network->seed = static_cast<std::int64_t>(rng.below(1000));
  if (rng.below(4) == 0) {
    c.network->kind = "fat_tree";
    c.network->leaves_per_pod = c.network->rails ? c.adapters->per_node : 1;
    c.network->cores = one_of(rng, {1, 2});
  }
  return c;
}

std::vector<Transfer> random_transfers(Rng& rng, std::int64_t gpus) {
  std::vector<Transfer> all;
  const std::uint64_t count = 1 + rng.below(24);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto from = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(gpus)));
    const auto to = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(gpus)));
    if (from != to) all.push_back({from, to, Bytes::from_base(1'000'000 * one_of(rng, {1, 2, 3}))});
  }
  return all;
}

void expect_the_same(const Topology& t, const std::vector<RoutedFlow>& flows) {
  const std::vector<Duration> reduced = ends_of(t, flows, Symmetry::reduced);
  const std::vector<Duration> whole = ends_of(t, flows, Symmetry::none);
  ASSERT_EQ(reduced.size(), whole.size());
  // Shares are whole quanta, so that an end may be rounded up by a picosecond a period.
  for (std::size_t i = 0; i < whole.size(); ++i)
    ASSERT_LE(std::abs((reduced[i] - whole[i]).count()), static_cast<std::int64_t>(flows.size()))
        << i << " of " << flows.size();
  const TransferTimes times = simulate(t, groups_of(t, flows));
  EXPECT_GE(times.all + Duration(1), times.least);
}

TEST(TopologySymmetry, OfRandomTransfersIsExact) {
  std::int64_t alike = 0;
  const auto draws = static_cast<std::uint64_t>(testing::draws_of(600, 20000));
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed, "symmetry");
    const TopologyConfig config = random_topology(rng);
    const Topology t(config);
    const std::vector<Transfer> transfers = random_transfers(rng, t.gpus());
    const std::vector<RoutedFlow> flows = routed(t, transfers);
    expect_the_same(t, flows);
    if (!flows.empty()) alike += classes_of(t, flows).first.size() < flows.size() ? 1 : 0;
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(alike, static_cast<std::int64_t>(draws) / 10) << "some have flows that are alike";
}

// The flows of one rank stand for those of all.
void expect_the_same_groups(const Topology& t, const std::vector<FlowGroup>& whole,
                            const std::vector<FlowGroup>& few) {
  const TransferTimes a = simulate(t, whole);
  const TransferTimes b = simulate(t, few);
  ASSERT_EQ(a.flows, b.flows);
  ASSERT_EQ(a.least, b.least);
  ASSERT_EQ(a.latency, b.latency);
  ASSERT_LE(std::abs((a.all - b.all).count()), a.flows);
}

TEST(TopologySymmetry, OfCollectivesIsExactAndSmaller) {
  std::int64_t flows_in_all = 0;
  std::int64_t groups_in_all = 0;
  std::int64_t of_first = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(testing::draws_of(120, 2000));
       ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed, "collectives");
    const Topology t(random_topology(rng));
    for (std::size_t a = 0; a < kRoutedAlgorithmNames.size(); ++a)
      for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_to_all}) {
        const auto algorithm = static_cast<RoutedAlgorithm>(a);
        CollectiveWork work;
        work.kind = kind;
        work.size = Bytes::from_base(24'000'000);
        work.ranks = t.gpus();
        work.copies = 4;
        if (t.gpus() < 2 || !serves(algorithm, t, work)) continue;
        const auto whole = phases_of(algorithm, t, work, 0, FlowsOf::all);
        const auto few = phases_of(algorithm, t, work);
        ASSERT_EQ(whole.size(), few.size());
        for (std::size_t p = 0; p < whole.size(); ++p) {
          expect_the_same(t, whole[p].flows);
          const std::vector<FlowGroup> groups = groups_of(t, whole[p], work.ranks);
          flows_in_all += static_cast<std::int64_t>(whole[p].flows.size());
          groups_in_all += static_cast<std::int64_t>(groups.size());
          expect_the_same_groups(t, groups, groups_of(t, few[p], work.ranks));
          of_first += few[p].of_first ? 1 : 0;
        }
        if (HasFatalFailure()) return;
      }
  }
  EXPECT_LT(groups_in_all * 2, flows_in_all);
  EXPECT_GT(of_first, 20);
}

// A class has one rate, every link is as full as its class says, and each flow has a full link on
// which nobody gets more: the condition that only max-min fair rates fulfil.
TEST(TopologySymmetry, ClassesAreEquitable) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed, "equitable");
    const Topology t(random_topology(rng));
    const std::vector<RoutedFlow> flows = routed(t, random_transfers(rng, t.gpus()));
    if (flows.empty()) continue;
    const FlowClasses classes = classes_of(t, flows);
    const std::size_t kinds = classes.first.size();
    std::vector<std::vector<int>> crossing(t.links().size(), std::vector<int>(kinds, 0));
    for (std::size_t f = 0; f < flows.size(); ++f)
      for (const std::int32_t link : flows[f].links)
        ++crossing[static_cast<std::size_t>(link)][static_cast<std::size_t>(classes.of_flow[f])];
    for (std::size_t l = 0; l < t.links().size(); ++l) {
      const std::int32_t c = classes.of_link[l];
      if (c < 0) continue;
      const auto first = static_cast<std::size_t>(classes.first_link[static_cast<std::size_t>(c)]);
      EXPECT_EQ(t.links()[l].capacity, t.links()[first].capacity);
      EXPECT_EQ(crossing[l], crossing[first]);
    }
    for (std::size_t f = 0; f < flows.size(); ++f) {
      const auto first =
          static_cast<std::size_t>(classes.first[static_cast<std::size_t>(classes.of_flow[f])]);
      EXPECT_EQ(flows[f].bytes, flows[first].bytes);
      std::multiset<std::int32_t> own, of_first;
      for (const std::int32_t link : flows[f].links)
        own.insert(classes.of_link[static_cast<std::size_t>(link)]);
      for (const std::int32_t link : flows[first].links)
        of_first.insert(classes.of_link[static_cast<std::size_t>(link)]);
      EXPECT_EQ(own, of_first);
    }
  }
}

}  // namespace
}  // namespace tiersim::topology_symmetry_test
