// In a steady state the network allocates nothing. Counts every operator new of this binary.
#include "tests/support/allocations.hpp"

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/core/engine.hpp"
#include "sim/core/flow_network.hpp"

namespace tiersim::flow_network_steady_test {
namespace {

constexpr std::size_t kHosts = 8;
constexpr std::int64_t kEnd = 100'000'000'000;  // ps; no flows start after this

Hop hop(std::size_t link, std::int64_t wire) {
  return {LinkId(link), Bytes::from_base(wire)};
}

Process mover(Engine& engine, FlowNetwork& network, std::uint64_t seed) {
  Rng rng(seed, "mover");
  while (engine.now() < SimTime(Duration(kEnd))) {
    const std::int64_t size = 1 + static_cast<std::int64_t>(rng.below(100'000));
    const std::size_t from = rng.below(kHosts);
    const std::size_t to = rng.below(kHosts);
    const std::array hops{hop(from, size + size / 16), hop(kHosts + to, size)};
    FlowSpec spec;
    spec.hops = hops;
    spec.payload = Bytes::from_base(size);
    if (rng.below(4) == 0)
      spec.min_duration = Duration(1 + static_cast<std::int64_t>(rng.below(10'000'000)));
    co_await network.transfer(spec);
  }
}

class Nobody final : public EventHandler {
 public:
  void on_event(Engine&, std::uint64_t) override {}
};

TEST(FlowNetworkSteady, AllocatesNothing) {
  Engine engine;
  FlowNetwork network(engine);
  for (std::size_t l = 0; l < 2 * kHosts; ++l)
    network.add_link("link", Bandwidth::from_base(10'000'000'000));
  // More flows at once, each with a cap and so with its own group, than at any time below.
  Nobody nobody;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const std::array hops{hop(i % kHosts, 1000), hop(kHosts + i / kHosts, 1000)};
    network.start(
        {.hops = hops, .payload = Bytes::from_base(1000), .min_duration = Duration(1'000'000)},
        nobody);
  }
  for (std::uint64_t i = 0; i < 40; ++i) engine.spawn(mover(engine, network, i));
  engine.run_until(SimTime(Duration(kEnd / 2)));  // all paths seen, all pools grown
  const std::int64_t flows = network.totals().flows_finished;
  const std::uint64_t before = testing::allocations();
  engine.run_until(SimTime(Duration(kEnd - 1)));
  EXPECT_EQ(testing::allocations() - before, 0U);
  EXPECT_GT(network.totals().flows_finished - flows, 10'000);
  engine.run();
}

}  // namespace
}  // namespace tiersim::flow_network_steady_test
