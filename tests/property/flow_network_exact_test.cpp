// The network against exact rational arithmetic: times, shares and the max-min certificate.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/property/flow_scripts.hpp"

namespace tiersim::flow_reference::flow_network_exact_test {
namespace {

// The reference itself: an allocation is weighted max-min fair if and only if it fits and every
// flow is at its cap or crosses a full link on which no flow has a larger rate per weight
// (Bertsekas and Gallager, 6.5.2). Equalities are exact.
TEST(FlowReference, FillingHasTheMaxMinCertificate) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed, "certificate");
    const Script script = random_script(rng, style_of(seed), 6, 14);
    const std::vector<Rational> capacity(script.capacity.begin(), script.capacity.end());
    std::vector<Demand<Rational>> demands;
    for (const ScriptFlow& flow : script.flows) demands.push_back(demand_of(flow));
    const std::vector<Rational> rates = fill(capacity, demands);
    std::vector<Rational> used(capacity.size(), Rational(0)), largest(used);
    for (std::size_t f = 0; f < rates.size(); ++f)
      for (const Use<Rational>& use : demands[f].uses) {
        used[use.link] += rates[f] * use.wire_per_payload;
        const Rational level = rates[f] / demands[f].weight;
        if (level > largest[use.link]) largest[use.link] = level;
      }
    for (std::size_t l = 0; l < capacity.size(); ++l) ASSERT_LE(used[l], capacity[l]);
    for (std::size_t f = 0; f < rates.size(); ++f) {
      bool limited = demands[f].rate_max != 0 && rates[f] == demands[f].rate_max;
      for (const Use<Rational>& use : demands[f].uses)
        limited = limited || (used[use.link] == capacity[use.link] &&
                              rates[f] / demands[f].weight == largest[use.link]);
      ASSERT_TRUE(limited) << f;
    }
  }
}

// No flow ends before its payload has moved, and none is later than 1 ps for each period of
// constant rate. Nearly all end exactly. The others have an exact end on a whole ps (2^-20 or less
// before it), or a rate that was rounded down and left a rest past the last one.
TEST(FlowNetworkExact, NoFlowIsEarlyAndNoneLaterThanAPicosecondAPeriod) {
  std::int64_t flows = 0;
  std::int64_t late = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed, "exact");
    const Script script = random_script(rng, style_of(seed), 6, 14);
    Player player(script);
    const std::vector<std::int64_t>& finish = player.run();
    for (const std::int64_t at : finish) ASSERT_GE(at, 0);
    for (const Verdict& verdict : replay(script, finish)) {
      ++flows;
      late += verdict.late > 0 ? 1 : 0;
      ASSERT_FALSE(verdict.early);
      ASSERT_LE(verdict.late, verdict.periods);
      ASSERT_LE(verdict.late, 1);  // observed; the bound is the line above
    }
  }
  EXPECT_LT(late, flows / 20);
}

// The basis of the guard: a share is never above the exact one. It is below by at most one quantum
// for rounding down, another for the guard and the shares it rests on, and 2^-50 for the relative
// part of the guard (2^-52) and the rounding of the loads (2^-60 each).
TEST(FlowNetworkExact, SharesAreNeverAboveTheExactOnes) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed, "shares");
    Script script = random_script(rng, style_of(seed), 20, 60);
    std::vector<Demand<Rational>> demands;
    for (ScriptFlow& flow : script.flows) {
      flow.start = 0;
      flow.payload *= 1'000'000;
      for (ScriptHop& hop : flow.hops) hop.wire *= 1'000'000;
      flow.min_duration *= 100'000;
      demands.push_back(demand_of(flow));
    }
    const std::vector<Rational> rates =
        fill(std::vector<Rational>(script.capacity.begin(), script.capacity.end()), demands);
    Player player(script);
    std::vector<FlowShare> shares;
    player.engine().call_at(SimTime(Duration(1)), [&] { shares = player.network().shares(); });
    player.start();
    player.engine().run_until(SimTime(Duration(1)));
    ASSERT_EQ(shares.size(), rates.size());
    for (std::size_t f = 0; f < rates.size(); ++f) {
      const Rational exact = rates[f] / demands[f].weight * kFlowRateQuantum;
      const Rational share(boost::multiprecision::cpp_int(shares[f].rate_quanta));
      ASSERT_LE(share, exact) << f;
      ASSERT_LE(exact - share, 2 + exact / (std::int64_t{1} << 50)) << f;
    }
  }
}

}  // namespace
}  // namespace tiersim::flow_reference::flow_network_exact_test
