// Properties of every network of links and flows, on random ones.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "tests/property/flow_scripts.hpp"

namespace tiersim::flow_reference::flow_network_test {
namespace {

constexpr std::uint64_t kSeeds = 300;

Script script_of(std::uint64_t seed) {
  Rng rng(seed, "property");
  return random_script(rng, style_of(seed), 8, 24);
}

TEST(FlowNetworkProperty, BytesInAreBytesOutAndBytesInFlight) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Script script = script_of(seed);
    Player player(script);
    player.start();
    const auto given_by = [&](std::int64_t time) {
      Bytes given;
      for (const ScriptFlow& flow : script.flows)
        if (flow.start <= time) given += Bytes::from_base(flow.payload);
      return given;
    };
    for (std::int64_t step = 1; step <= 20; ++step) {
      player.engine().run_until(SimTime(Duration(step * 123'456'789)));
      const FlowTotals totals = player.network().totals();
      ASSERT_EQ(totals.payload_started,
                totals.payload_finished + totals.moved_in_flight + totals.remaining_in_flight);
      ASSERT_EQ(totals.payload_started, given_by(step * 123'456'789));
      for (std::size_t l = 0; l < script.capacity.size(); ++l) {
        const LinkStats stats = player.network().stats(LinkId(l));
        // A finished flow counts in full, up to 1 ps of its rate early: a byte a flow and more.
        const double slack = 1e-12 * static_cast<double>(script.capacity[l]) + 1;
        ASSERT_LE(static_cast<double>(stats.wire_moved.in_base()),
                  to_seconds(stats.busy) * static_cast<double>(script.capacity[l]) +
                      slack * static_cast<double>(script.flows.size()));
      }
    }
    player.engine().run();
    for (std::size_t l = 0; l < script.capacity.size(); ++l) {
      std::int64_t wire = 0;
      for (const ScriptFlow& flow : script.flows)
        for (const ScriptHop& hop : flow.hops) wire += hop.link == l ? hop.wire : 0;
      ASSERT_EQ(player.network().stats(LinkId(l)).wire_moved.in_base(), wire);
    }
    ASSERT_EQ(player.network().totals().payload_finished,
              given_by(player.engine().now().time_since_epoch().count()));
  }
}

TEST(FlowNetworkProperty, NoFlowBeatsItsUncontendedDuration) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Script script = script_of(seed);
    std::vector<Bandwidth> capacity;
    for (const std::int64_t c : script.capacity) capacity.push_back(Bandwidth::from_base(c));
    Player player(script);
    const std::vector<std::int64_t>& finish = player.run();
    for (std::size_t f = 0; f < finish.size(); ++f) {
      const ScriptFlow& flow = script.flows[f];
      std::vector<Hop> hops;
      for (const ScriptHop& hop : flow.hops)
        hops.push_back({LinkId(hop.link), Bytes::from_base(hop.wire)});
      const Duration alone = uncontended_duration({.hops = hops,
                                                   .payload = Bytes::from_base(flow.payload),
                                                   .min_duration = Duration(flow.min_duration)},
                                                  capacity);
      ASSERT_GE(finish[f] - flow.start, alone.count()) << f;
    }
  }
}

TEST(FlowNetworkProperty, NamesOfLinksAndOrderOfHopsDoNotMatter) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Script script = script_of(seed);
    Script renamed = script;
    const std::size_t links = script.capacity.size();
    for (std::size_t l = 0; l < links; ++l) renamed.capacity[(l + 3) % links] = script.capacity[l];
    for (ScriptFlow& flow : renamed.flows) {
      for (ScriptHop& hop : flow.hops) hop.link = (hop.link + 3) % links;
      std::reverse(flow.hops.begin(), flow.hops.end());
    }
    Player one(script);
    Player other(renamed);
    ASSERT_EQ(one.run(), other.run());
    ASSERT_EQ(one.order(), other.order());
  }
}

// A second network beside the first, started and ended at other times.
TEST(FlowNetworkProperty, AnUnrelatedComponentChangesNothing) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Script script = script_of(seed);
    Script both = script_of(seed + 1'000'000);
    const std::size_t own_links = script.capacity.size();
    for (ScriptFlow& flow : both.flows) {
      for (ScriptHop& hop : flow.hops) hop.link += own_links;
      flow.start += 777;
    }
    both.capacity.insert(both.capacity.begin(), script.capacity.begin(), script.capacity.end());
    const std::size_t others = both.flows.size();
    both.flows.insert(both.flows.end(), script.flows.begin(), script.flows.end());
    Player alone(script);
    Player together(both);
    const std::vector<std::int64_t>& finish = together.run();
    ASSERT_EQ(alone.run(), std::vector<std::int64_t>(
                               finish.begin() + static_cast<std::ptrdiff_t>(others), finish.end()));
  }
}

// Exact where shares are exact: one link of whole GB/s, up to 24 flows of weight 1.
TEST(FlowNetworkProperty, TwiceTheCapacityAndTwiceTheBytesKeepTimes) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed, "scale");
    Script script;
    script.capacity = {1'000'000'000 * (1 + below(rng, 64))};
    for (std::uint64_t f = 1 + rng.below(24); f > 0; --f) {
      const std::int64_t payload = 1 + below(rng, 1'000'000);
      script.flows.push_back(
          {.start = below(rng, 100'000'000), .payload = payload, .hops = {{0, payload}}});
    }
    Script twice = script;
    twice.capacity[0] *= 2;
    for (ScriptFlow& flow : twice.flows) flow.payload *= 2, flow.hops[0].wire *= 2;
    Player one(script);
    Player other(twice);
    ASSERT_EQ(one.run(), other.run());
  }
}

/// The flows of the script that are in flight at `at`, given the end of each.
std::vector<std::size_t> in_flight(const Script& script, const std::vector<std::int64_t>& finish,
                                   std::int64_t at) {
  std::vector<std::size_t> flows;
  for (std::size_t f = 0; f < finish.size(); ++f)
    if (script.flows[f].start < at && finish[f] > at) flows.push_back(f);
  return flows;
}

std::vector<FlowShare> shares_at(Player& player, std::int64_t at) {
  player.start();
  player.engine().run_until(SimTime(Duration(at)));
  return player.network().shares();
}

// Shares updated change by change equal, bit for bit, those of a network that fills all at once.
TEST(FlowNetworkProperty, SolvingWhatAChangeTouchesEqualsSolvingAll) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed, "partial");
    Script script = random_script(rng, style_of(seed), 12, 60);
    Player whole(script);
    const std::vector<std::int64_t> finish = whole.run();
    for (int k = 1; k <= 4; ++k) {
      const std::int64_t at = *std::max_element(finish.begin(), finish.end()) * k / 7 + 1;
      Player grown(script);
      const std::vector<FlowShare> step_by_step = shares_at(grown, at);
      Script fresh{script.capacity, {}};
      const std::vector<std::size_t> flows = in_flight(script, finish, at);
      for (const std::size_t f : flows) {
        fresh.flows.push_back(script.flows[f]);
        ScriptFlow& flow = fresh.flows.back();
        flow.start = 0;
      }
      Player at_once(fresh);
      const std::vector<FlowShare> all = shares_at(at_once, 0);
      ASSERT_EQ(step_by_step.size(), all.size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(step_by_step[i].flow, flows[i]);
        ASSERT_TRUE(step_by_step[i].rate_quanta == all[i].rate_quanta) << at << " " << flows[i];
      }
    }
  }
}

// The least share is the least over links of capacity / load and over caps: one more flow can only
// lower it. (Single shares may well grow: the newcomer holds back another's competitor.)
TEST(FlowNetworkProperty, OneMoreFlowNeverRaisesTheLeastShare) {
  const auto least = [](const Script& script) {
    Player player(script);
    const std::vector<FlowShare> shares = shares_at(player, 0);
    return std::min_element(
               shares.begin(), shares.end(),
               [](const auto& a, const auto& b) { return a.rate_quanta < b.rate_quanta; })
        ->rate_quanta;
  };
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Script script = script_of(seed);
    for (ScriptFlow& flow : script.flows) flow.start = 0;
    const Int128 with = least(script);
    if (script.flows.size() == 1) continue;
    script.flows.pop_back();
    ASSERT_TRUE(with <= least(script));
  }
}

}  // namespace
}  // namespace tiersim::flow_reference::flow_network_test
