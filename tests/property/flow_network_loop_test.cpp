// Closed loops: flows that finish start others, so that the network solves its shares from those
// before, thousands of times. After each change they are compared with full progressive filling.
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/core/engine.hpp"
#include "sim/core/flow_network.hpp"
#include "tests/property/flow_reference.hpp"

namespace tiersim::flow_reference::flow_network_loop_test {
namespace {

/// Tolerance. The reference rounds each of its operations to 2^-53, and a share depends on at most
/// a few thousand of them, whose cancellation costs at most the ratio of a capacity (4e9 B/s) to
/// the least share (1e5 B/s and more): 2^-53 * 4e3 * 4e4 = 2e-8. The network rounds by less.
constexpr double kTolerance = 1e-7;

struct Shape {
  std::uint64_t links;
  std::uint64_t flows;
  std::uint64_t hops_max;
  bool headers;  ///< wire bytes differ from the payload
  bool weights;
  bool caps;
};

class Loop final : public EventHandler {
 public:
  Loop(std::uint64_t seed, const Shape& shape, std::uint64_t starts)
      : rng_(seed, "closed loop"), shape_(shape), to_start_(starts) {
    for (std::uint64_t i = 0; i < shape.links; ++i) {
      capacity_.push_back(1e9 * static_cast<double>(1 + rng_.below(4)));
      network_.add_link("link", Bandwidth::from_base(static_cast<std::int64_t>(capacity_[i])));
    }
    for (std::uint64_t i = 0; i < shape.flows; ++i) start();
    engine_.run();
    EXPECT_TRUE(live_.empty());
  }
  void on_event(Engine&, std::uint64_t flow) override {
    live_.erase(flow);
    changed_ = engine_.now();
    const std::uint64_t kind = rng_.below(20);
    look();
    if (kind == 0 && 2 * live_.size() > shape_.flows) return;  // one less
    if (kind < 4) {                                            // later
      const auto delay = static_cast<std::int64_t>(rng_.below(100'000));
      engine_.call_after(Duration(delay), [this] { start(); });
      return;
    }
    start();
    if (kind == 4) start();  // one more
  }
  std::int64_t looks() const { return looks_; }

 private:
  void start() {
    if (to_start_ == 0) return;
    --to_start_;
    changed_ = engine_.now();
    const auto payload = static_cast<std::int64_t>(1000 * (1 + rng_.below(5)));
    std::vector<Hop> hops;
    Demand<double> demand;
    const std::uint64_t count = 1 + rng_.below(shape_.hops_max);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t link = rng_.below(shape_.links);
      bool known = false;
      for (const Hop& hop : hops) known = known || hop.link.index() == link;
      if (known) break;
      const std::int64_t wire = shape_.headers && rng_.below(2) == 0 ? payload + 24 * 8 : payload;
      hops.push_back({LinkId(link), Bytes::from_base(wire)});
      demand.uses.push_back({link, static_cast<double>(wire) / static_cast<double>(payload)});
    }
    FlowSpec spec{.hops = hops, .payload = Bytes::from_base(payload)};
    if (shape_.weights) spec.weight = 1 + static_cast<std::int64_t>(rng_.below(3));
    if (shape_.caps && rng_.below(4) == 0)
      spec.min_duration = Duration(static_cast<std::int64_t>(1'000'000 * (1 + rng_.below(30))));
    demand.weight = static_cast<double>(spec.weight);
    if (spec.min_duration.count() > 0)
      demand.rate_max = static_cast<double>(payload) / to_seconds(spec.min_duration);
    network_.start(spec, *this, next_);
    live_.emplace(next_++, std::move(demand));
    look();
  }
  /// Compares as soon as the present changes have taken effect.
  void look() {
    engine_.call_after(Duration(1), [this] { compare(); });
  }
  void compare() {
    std::vector<Demand<double>> demands;
    for (const auto& [flow, demand] : live_) demands.push_back(demand);
    if (engine_.now() == changed_) return;  // not yet in effect
    const std::vector<FlowShare> shares = network_.shares();
    ASSERT_EQ(shares.size(), demands.size());
    std::size_t at = 0;
    for (const auto& [flow, demand] : live_) ASSERT_EQ(shares[at++].flow, flow);
    const std::vector<double> rates = fill(capacity_, demands);
    ++looks_;
    at = 0;
    for (const auto& [flow, demand] : live_) {
      const double share =
          static_cast<double>(shares[at].rate_quanta) / static_cast<double>(kFlowRateQuantum);
      ASSERT_NEAR(share * demand.weight, rates[at], kTolerance * rates[at])
          << "flow " << flow << " at " << engine_.now().time_since_epoch().count() << " ps";
      ++at;
    }
  }

  Rng rng_;
  Shape shape_;
  std::uint64_t to_start_;
  std::uint64_t next_ = 0;
  std::int64_t looks_ = 0;
  SimTime changed_;
  std::vector<double> capacity_;
  std::map<std::uint64_t, Demand<double>> live_;
  Engine engine_;
  FlowNetwork network_{engine_};
};

void expect_full_filling(const Shape& shape, std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << shape.links << " links, seed " << seed);
  const Loop loop(seed, shape, 400);
  ASSERT_GT(loop.looks(), 200);
}

constexpr Shape kMixed{8, 20, 4, true, true, true};

TEST(FlowNetworkLoop, SharesAreAlwaysThoseOfFullFilling) {
  constexpr std::array kShapes{
      kMixed,
      Shape{3, 6, 3, false, false, false},
      Shape{6, 10, 3, false, true, true},
      Shape{8, 40, 2, false, true, false},
      Shape{16, 40, 5, true, false, false},
      Shape{24, 30, 4, false, true, true},
  };
  for (const Shape& shape : kShapes)
    for (std::uint64_t seed = 0; seed < 20 && !HasFatalFailure(); ++seed)
      expect_full_filling(shape, seed);
}

}  // namespace
}  // namespace tiersim::flow_reference::flow_network_loop_test
