// Handlers that start flows when one finishes. Reading totals makes the network remove the finished
// flow before anything is started, which must not change the result.
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/core/engine.hpp"
#include "sim/core/flow_network.hpp"

namespace tiersim::flow_network_loop_test {
namespace {

/// Random successors: mostly one flow like the finished one, at times another kind, several or
/// none.
class Loop final : public EventHandler {
 public:
  Loop(std::uint64_t seed, std::int64_t flows, bool ask) : rng_(seed, "loop"), ask_(ask) {
    for (int i = 0; i < 2; ++i) network_.add_link("link", Bandwidth::from_base(10'000'000'000));
    for (std::int64_t i = 0; i < flows; ++i) start(0, size(), 1, Duration(0));
    engine_.run();
  }
  void on_event(Engine& engine, std::uint64_t payload) override {
    ++events_;
    log.emplace_back(engine.now().time_since_epoch().count(), payload);
    if (ask_) check(network_.totals());
    if (started_ > 4000) return;
    const std::uint64_t kind = rng_.below(40);
    if (kind == 0) return;                                            // one less
    if (kind == 1) start(1, size(), 1, Duration(0));                  // elsewhere
    if (kind == 2) start(0, size(), 2, Duration(0));                  // heavier
    if (kind == 3) start(0, size(), 1, Duration(1'000'000));          // capped
    if (kind == 4) start(0, Bytes::from_base(1000), 1, Duration(0));  // due together
    if (kind == 5) both(size());                                      // over both links
    start(0, kind < 20 ? Bytes::from_base(5000) : size(), 1, Duration(0));
    if (kind == 6) start(0, size(), 1, Duration(0));  // one more
    if (kind == 7) check(network_.totals());
    if (kind == 8) start(1, size(), 1, Duration(0));  // and elsewhere
  }
  void finish() {
    for (const std::uint64_t link : {0U, 1U}) {
      const LinkStats stats = network_.stats(LinkId(link));
      sums.emplace_back(stats.payload_moved.in_base(), stats.wire_moved.in_base(),
                        stats.busy.count(), stats.flows_done);
      EXPECT_EQ(stats.flows_now, 0);
    }
    const FlowTotals totals = network_.totals();
    EXPECT_EQ(totals.flows_started, started_);
    EXPECT_EQ(totals.flows_finished, events_);
    EXPECT_EQ(totals.payload_started, totals.payload_finished);
  }

  std::vector<std::pair<std::int64_t, std::uint64_t>> log;
  std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> sums;

 private:
  static void check(const FlowTotals& totals) {
    EXPECT_EQ(totals.payload_started,
              totals.payload_finished + totals.moved_in_flight + totals.remaining_in_flight);
  }
  Bytes size() { return Bytes::from_base(1 + static_cast<std::int64_t>(rng_.below(10'000))); }
  void start(std::uint64_t link, Bytes payload, std::int64_t weight, Duration least) {
    const std::array hops{Hop{LinkId(link), payload}};
    network_.start({hops, payload, weight, least}, *this, static_cast<std::uint64_t>(started_++));
  }
  void both(Bytes payload) {
    const std::array hops{Hop{LinkId(0), payload + Bytes::from_base(64)}, Hop{LinkId(1), payload}};
    network_.start({.hops = hops, .payload = payload}, *this,
                   static_cast<std::uint64_t>(started_++));
  }

  Rng rng_;
  bool ask_;
  std::int64_t started_ = 0;
  std::int64_t events_ = 0;
  Engine engine_;
  FlowNetwork network_{engine_};
};

TEST(FlowNetworkLoop, AFlowInPlaceOfAnotherIsAFlowLikeAnyOther) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const std::int64_t flows = 1 + static_cast<std::int64_t>(seed) * 2;
    Loop plain(seed, flows, false);
    Loop asking(seed, flows, true);
    plain.finish();
    asking.finish();
    EXPECT_EQ(plain.log, asking.log) << seed;
    EXPECT_EQ(plain.sums, asking.sums) << seed;
  }
}

// Four at 250 B/us each; the one that follows the first gets the same share.
TEST(FlowNetworkLoop, TheNewFlowHasTheShareOfTheOld) {
  class Twice final : public EventHandler {
   public:
    explicit Twice(FlowNetwork& of) : network(of) {}
    void on_event(Engine& engine, std::uint64_t payload) override {
      at.push_back(engine.now().time_since_epoch());
      if (payload != 1) return;
      const std::array hops{Hop{LinkId(0), Bytes::from_base(500)}};
      network.start({.hops = hops, .payload = Bytes::from_base(500)}, *this);
    }
    FlowNetwork& network;
    std::vector<Duration> at;
  };
  Engine engine;
  FlowNetwork network(engine);
  network.add_link("link", Bandwidth::from_base(1'000'000'000));
  Twice twice(network);
  for (const std::int64_t payload : {250, 750, 750, 750}) {
    const std::array hops{Hop{LinkId(0), Bytes::from_base(payload)}};
    network.start({.hops = hops, .payload = Bytes::from_base(payload)}, twice,
                  payload == 250 ? 1 : 0);
  }
  engine.run();
  using std::chrono::microseconds;
  EXPECT_EQ(twice.at, (std::vector<Duration>{microseconds(1), microseconds(3), microseconds(3),
                                             microseconds(3), microseconds(3)}));
}

}  // namespace
}  // namespace tiersim::flow_network_loop_test
