#include "sim/core/flow_network.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "sim/core/engine.hpp"

namespace tiersim::flow_network_test {
namespace {

using namespace tiersim::literals;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

/// Collects the end of each flow by the number it was started with.
class Sink final : public EventHandler {
 public:
  void on_event(Engine& engine, std::uint64_t payload) override {
    at[payload] = engine.now().time_since_epoch();
    order.push_back(payload);
  }
  std::map<std::uint64_t, Duration> at;
  std::vector<std::uint64_t> order;
};

struct FlowNetworkTest : ::testing::Test {
  /// Starts flow `id` at `when`.
  void start(std::uint64_t id, Duration when, std::vector<Hop> hops, Bytes payload,
             std::int64_t weight = 1, Duration min_duration = Duration(0)) {
    flows.push_back({std::move(hops), payload, weight, min_duration});
    const std::size_t index = flows.size() - 1;
    engine.call_at(SimTime(when), [this, id, index] {
      const Given& given = flows[index];
      network.start({given.hops, given.payload, given.weight, given.min_duration}, sink, id);
    });
  }
  struct Given {
    std::vector<Hop> hops;
    Bytes payload;
    std::int64_t weight;
    Duration min_duration;
  };
  std::vector<Given> flows;
  Engine engine;
  FlowNetwork network{engine};
  Sink sink;
};

// 1000 B at 1 GB/s each: both have 500 B/us, so both end at 2 us.
TEST_F(FlowNetworkTest, TwoFlowsShareALinkEqually) {
  const LinkId link = network.add_link("link", 1_GBps);
  start(0, Duration(0), {{link, 1000_B}}, 1000_B);
  start(1, Duration(0), {{link, 1000_B}}, 1000_B);
  engine.run();
  EXPECT_EQ(sink.at[0], microseconds(2));
  EXPECT_EQ(sink.at[1], microseconds(2));
  EXPECT_EQ(engine.now().time_since_epoch(), microseconds(2));
}

// Alone until 0.5 us (500 B done), then shared: the first ends at 1.5 us, when the second has 500 B
// left, which it then moves alone.
TEST_F(FlowNetworkTest, AnArrivalSlowsAndADepartureSpeedsUp) {
  const LinkId link = network.add_link("link", 1_GBps);
  start(0, Duration(0), {{link, 1000_B}}, 1000_B);
  start(1, nanoseconds(500), {{link, 1000_B}}, 1000_B);
  engine.run();
  EXPECT_EQ(sink.at[0], nanoseconds(1500));
  EXPECT_EQ(sink.at[1], nanoseconds(2000));
}

// The heavy flow leaves 0.5 GB/s of the second link to each of the two flows that cross both, and
// so 1 GB/s of the first to the third. It ends at 1 us. The second link then fits what the first
// lets through, and each of the three has 2/3 GB/s and 2000 B to move.
TEST_F(FlowNetworkTest, ALinkThatNoLongerLimitsReleasesItsFlows) {
  const LinkId first = network.add_link("first", 2_GBps);
  const LinkId second = network.add_link("second", 4_GBps);
  for (const std::uint64_t id : {0U, 1U})
    start(id, Duration(0), {{first, 2500_B}, {second, 2500_B}}, 2500_B);
  start(2, Duration(0), {{first, 3000_B}}, 3000_B);
  start(3, Duration(0), {{second, 3000_B}}, 3000_B, 6);
  engine.run();
  EXPECT_EQ(sink.at[3], microseconds(1));
  for (const std::uint64_t id : {0U, 1U, 2U}) EXPECT_EQ(sink.at[id], microseconds(4));
}

TEST_F(FlowNetworkTest, ThreeSharersOfOneGigabytePerSecondAreExact) {
  const LinkId link = network.add_link("link", 1_GBps);
  for (std::uint64_t i = 0; i < 3; ++i) start(i, Duration(0), {{link, 1000_B}}, 1000_B);
  engine.run();
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(sink.at[i], microseconds(3));
}

// Weights 1 and 3: 250 and 750 B/us. The heavy one ends at 1000/750 us, rounded up to a ps; then
// 2000/3 B are left for the other, alone: it ends at 2 us in all.
TEST_F(FlowNetworkTest, WeightsDivideTheLink) {
  const LinkId link = network.add_link("link", 1_GBps);
  start(0, Duration(0), {{link, 1000_B}}, 1000_B, 1);
  start(1, Duration(0), {{link, 1000_B}}, 1000_B, 3);
  engine.run();
  EXPECT_EQ(sink.at[1], Duration(1'333'334));
  EXPECT_GE(sink.at[0], Duration(2'000'000));
  EXPECT_LE(sink.at[0], Duration(2'000'001));
}

// Capped at 200 B/us, below its half: the other has 800 B/us.
TEST_F(FlowNetworkTest, ACappedFlowLeavesTheRestToOthers) {
  const LinkId link = network.add_link("link", 1_GBps);
  start(0, Duration(0), {{link, 1000_B}}, 1000_B, 1, microseconds(5));
  start(1, Duration(0), {{link, 4000_B}}, 4000_B);
  engine.run();
  EXPECT_EQ(sink.at[0], microseconds(5));
  EXPECT_EQ(sink.at[1], microseconds(5));
}

// 1000 B of payload cost 1250 B of a 1 GB/s link: 1.25 us; and 2 us on the narrower second link.
TEST_F(FlowNetworkTest, WireBytesTakeCapacityHopByHop) {
  const LinkId pcie = network.add_link("pcie", 1_GBps);
  const LinkId cxl = network.add_link("cxl", Bandwidth::from_base(700'000'000));
  start(0, Duration(0), {{pcie, 1250_B}}, 1000_B);
  start(1, microseconds(10), {{pcie, 1250_B}, {cxl, 1400_B}}, 1000_B);
  engine.run();
  EXPECT_EQ(sink.at[0], nanoseconds(1250));
  EXPECT_EQ(sink.at[1], microseconds(12));
}

// With 25 % of headers, two flows have 400 B/us of payload each.
TEST_F(FlowNetworkTest, OverheadsSlowThePayload) {
  const LinkId link = network.add_link("link", 1_GBps);
  start(0, Duration(0), {{link, 1250_B}}, 1000_B);
  start(1, Duration(0), {{link, 1250_B}}, 1000_B);
  engine.run();
  EXPECT_EQ(sink.at[0], nanoseconds(2500));
  EXPECT_EQ(sink.at[1], nanoseconds(2500));
}

// Bertsekas and Gallager, figure 6.10, in spirit: A crosses both links, B the first (1 GB/s) with
// it, C the second (2 GB/s). A and B get 500 B/us; C gets the other 1500 B/us.
TEST_F(FlowNetworkTest, MaxMinOverTwoLinks) {
  const LinkId first = network.add_link("first", 1_GBps);
  const LinkId second = network.add_link("second", 2_GBps);
  start(0, Duration(0), {{first, 1000_B}, {second, 1000_B}}, 1000_B);
  start(1, Duration(0), {{first, 1000_B}}, 1000_B);
  start(2, Duration(0), {{second, 3000_B}}, 3000_B);
  engine.run();
  EXPECT_EQ(sink.at[0], microseconds(2));
  EXPECT_EQ(sink.at[1], microseconds(2));
  EXPECT_EQ(sink.at[2], microseconds(2));
}

// A chain of three: the long flow and two short ones per link; the long one is limited by the
// first.
TEST_F(FlowNetworkTest, TheNarrowestLinkLimitsALongFlow) {
  const LinkId a = network.add_link("a", 1_GBps);
  const LinkId b = network.add_link("b", 4_GBps);
  start(0, Duration(0), {{b, 500_B}, {a, 500_B}}, 500_B);
  start(1, Duration(0), {{a, 500_B}}, 500_B);
  start(2, Duration(0), {{b, 3500_B}}, 3500_B);
  engine.call_at(SimTime(nanoseconds(100)), [&] {
    const std::vector<FlowShare> shares = network.shares();
    ASSERT_EQ(shares.size(), 3U);
    EXPECT_EQ(shares[0].bottleneck, a);
    EXPECT_EQ(shares[1].bottleneck, a);
    EXPECT_EQ(shares[2].bottleneck, b);
    EXPECT_TRUE(shares[0].rate_quanta == Int128{500'000'000} * kFlowRateQuantum);
    EXPECT_TRUE(shares[2].rate_quanta == Int128{3'500'000'000} * kFlowRateQuantum);
  });
  engine.run();
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(sink.at[i], microseconds(1));
}

TEST_F(FlowNetworkTest, AFlowWithoutHopsTakesItsMinimumDuration) {
  start(0, nanoseconds(1), {}, 10_B, 1, nanoseconds(7));
  start(1, nanoseconds(3), {}, 10_B);
  engine.run();
  EXPECT_EQ(sink.at[0], nanoseconds(8));
  EXPECT_EQ(sink.at[1], nanoseconds(3));
}

TEST_F(FlowNetworkTest, AloneEveryFlowTakesItsUncontendedDuration) {
  const LinkId a = network.add_link("a", Bandwidth::from_base(26'340'000'007));
  const LinkId b = network.add_link("b", Bandwidth::from_base(900'000'000'001));
  const std::vector<Given> given{
      {{{a, 4321_B}, {b, 4096_B}}, 4096_B, 7, Duration(0)},
      {{{a, 4321_B}, {b, 4096_B}}, 4096_B, 1, Duration(200'000)},
      {{{b, 999'999'937_B}}, 3_B, 1, Duration(0)},
      {{{b, 1_B}}, 1'000'003_B, 3, Duration(0)},
  };
  std::uint64_t id = 0;
  for (const Given& g : given) {
    const Duration from = microseconds(1000'000 * (id + 1));
    start(id, from, g.hops, g.payload, g.weight, g.min_duration);
    ++id;
  }
  engine.run();
  for (id = 0; id < given.size(); ++id) {
    const Given& g = given[id];
    const Duration expected =
        network.uncontended_duration({g.hops, g.payload, g.weight, g.min_duration});
    EXPECT_EQ(sink.at[id] - microseconds(1000'000 * (id + 1)), expected) << id;
  }
}

TEST_F(FlowNetworkTest, CompletionsOfOneInstantComeInTheOrderOfStarts) {
  const LinkId a = network.add_link("a", 1_GBps);
  const LinkId b = network.add_link("b", 1_GBps);
  for (std::uint64_t i = 0; i < 10; ++i)
    start(i, Duration(0), {{i % 3 == 0 ? b : a, i % 3 == 0 ? 600_B : 400_B}},
          i % 3 == 0 ? 600_B : 400_B);
  engine.run();  // four on b, six on a: all end at 2.4 us
  EXPECT_EQ(sink.order, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(engine.now().time_since_epoch(), nanoseconds(2400));
}

TEST_F(FlowNetworkTest, ALinkAndItsFlowsAreCounted) {
  const LinkId link = network.add_link("link", 1_GBps);
  start(0, Duration(0), {{link, 1200_B}}, 1000_B);
  start(1, microseconds(4), {{link, 1200_B}}, 1000_B);
  engine.run_until(SimTime(nanoseconds(4600)));
  const LinkStats stats = network.stats(link);
  EXPECT_EQ(stats.wire_moved, 1800_B);
  EXPECT_EQ(stats.payload_moved, 1500_B);
  EXPECT_EQ(stats.busy, nanoseconds(1800));
  EXPECT_EQ(stats.flows_done, 1);
  EXPECT_EQ(stats.flows_now, 1);
  EXPECT_NEAR(stats.utilisation, 1800.0 / 4600.0, 1e-12);
  const FlowTotals totals = network.totals();
  EXPECT_EQ(totals.payload_started, 2000_B);
  EXPECT_EQ(totals.payload_finished, 1000_B);
  EXPECT_EQ(totals.moved_in_flight, 500_B);
  EXPECT_EQ(totals.remaining_in_flight, 500_B);
  engine.run();
}

Process mover(FlowNetwork& network, LinkId link, Bytes size, int times, int& done) {
  for (int i = 0; i < times; ++i) {
    const std::array hops{Hop{link, size}};
    FlowSpec spec;
    spec.hops = hops;
    spec.payload = size;
    co_await network.transfer(spec);
    ++done;
  }
}

TEST_F(FlowNetworkTest, ProcessesAwaitTransfers) {
  const LinkId link = network.add_link("link", 1_GBps);
  int done = 0;
  engine.spawn(mover(network, link, 1000_B, 3, done));
  engine.spawn(mover(network, link, 1000_B, 3, done));
  engine.run();
  EXPECT_EQ(done, 6);
  EXPECT_EQ(engine.now().time_since_epoch(), microseconds(6));
}

// The flow itself goes on: the other has half the link until 2 us.
TEST_F(FlowNetworkTest, ACancelledProcessLeavesItsFlow) {
  const LinkId link = network.add_link("link", 1_GBps);
  int dropped = 0;
  int done = 0;
  const ProcessRef process = engine.spawn(mover(network, link, 1000_B, 3, dropped));
  engine.spawn(mover(network, link, 1000_B, 1, done));
  engine.call_at(SimTime(microseconds(1)), [&] { engine.cancel(process); });
  engine.run();
  EXPECT_EQ(dropped, 0);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(engine.now().time_since_epoch(), microseconds(2));
}

// The network goes first, while a process still awaits a flow: the process is ended with it.
TEST(FlowNetworkLife, ANetworkMayGoWhileAProcessWaits) {
  Engine engine;
  int done = 0;
  {
    FlowNetwork network(engine);
    const LinkId link = network.add_link("link", 1_GBps);
    engine.spawn(mover(network, link, 1000_B, 3, done));
    engine.run_until(SimTime(nanoseconds(1500)));
  }
  engine.run();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(engine.now().time_since_epoch(), nanoseconds(1500));
}

TEST(UncontendedDuration, IsTheSlowestHopRoundedUpOrTheMinimum) {
  const std::array capacity{3_GBps, 7_GBps};
  const std::array hops{Hop{LinkId(0), 10_B}, Hop{LinkId(1), 10_B}};
  FlowSpec spec{.hops = hops, .payload = 10_B};
  EXPECT_EQ(uncontended_duration(spec, capacity), Duration(3334));
  spec.min_duration = nanoseconds(4);
  EXPECT_EQ(uncontended_duration(spec, capacity), nanoseconds(4));
}

using FlowNetworkDeathTest = FlowNetworkTest;

TEST_F(FlowNetworkDeathTest, RefusesFlowsThatMakeNoSense) {
  const LinkId link = network.add_link("link", 1_GBps);
  const std::array twice{Hop{link, 1_B}, Hop{link, 1_B}};
  EXPECT_DEATH(network.start({.hops = {}, .payload = 0_B}, sink), "payload");
  EXPECT_DEATH(network.start({.hops = {}, .payload = 1_B, .weight = 0}, sink), "weight");
  EXPECT_DEATH(network.start({.hops = twice, .payload = 1_B}, sink), "link");
  EXPECT_DEATH(network.add_link("none", Bandwidth{}), "rate");
}

}  // namespace
}  // namespace tiersim::flow_network_test
