// Random steps whose GPUs are joined by a topology keep every invariant.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/step/simulate.hpp"
#include "tests/support/invariants.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/test_length.hpp"

namespace tiersim::random_routed_test {
namespace {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : rng_(seed, "random routed steps") {}

  std::vector<std::string> next() {
    const std::int64_t nodes = std::int64_t{1} << rng_.below(4);
    const bool experts = rng_.below(3) > 0;
    const bool prefill = rng_.below(3) == 0;
    std::vector<std::string> set{
        fmt::format("system.gpus={{count: {}, hosts: {}}}", 8 * nodes, nodes),
        fmt::format("system.topology.nodes={}", nodes),
        fmt::format("system.topology.network={}", network(nodes)),
        std::string("model.base=models/") +
            one_of({"deepseek_v2_lite", "qwen3_30b_a3b", "mixtral_8x7b"}) + ".yaml",
        fmt::format("step.batch={}", 8 * nodes * static_cast<std::int64_t>(1 + rng_.below(16))),
        fmt::format("step.context={}", 1 + rng_.below(8192)),
        std::string("step.overlap=") + one_of({"serial", "micro_batches"}),
        std::string("step.kind=") + (prefill ? "prefill" : "decode"),
        "system.gpu.calibration=none"};
    // Mixtral has 8 experts, which more GPUs have only with copies.
    const std::int64_t copies = rng_.below(2) == 0 ? 0 : 8 * nodes;
    set.push_back(fmt::format(
        "parallel={{tensor: {}, attention: data, attention_tensor: {}, dense: {}, experts: {}, "
        "redundant_experts: {}, "
        "expert_placement: {}, dispatch_type: {}}}",
        8 * nodes, one_of({"~", "2", "4"}), one_of({"data", "tensor"}),
        experts ? "spread" : "split", experts ? copies : 0,
        experts ? one_of({"balanced", "contiguous"}) : "contiguous", experts ? "fp8" : "~"));
    set.push_back(fmt::format("step.expert_load={{law: {}, spread: {}}}",
                              one_of({"zipf", "log_normal"}), rng_.uniform() * 2));
    return set;
  }

 private:
  std::string one_of(const std::vector<std::string>& choices) {
    return choices[rng_.below(choices.size())];
  }
  std::string network(std::int64_t nodes) {
    const std::string hop = "hop: 300 ns";
    switch (rng_.below(4)) {
      case 0:
        return fmt::format("{{kind: rail_only, {}, nodes_per_leaf: {}}}", hop, nodes);
      case 1:
        return fmt::format(
            "{{kind: dragonfly, {}, nodes_per_router: 1, routers_per_group: 1, "
            "local: 100 GB/s, global: 200 GB/s}}",
            hop);
      default:
        return fmt::format(
            "{{kind: leaf_spine, {}, nodes_per_leaf: {}, spines: 2, routing: {}, rails: {}, "
            "oversubscription: {{value: {}, class: assumed, source: test}}}}",
            hop, nodes > 1 ? nodes / 2 : 1, one_of({"ecmp", "adaptive"}), one_of({"true", "false"}),
            1 + rng_.below(3));
    }
  }

  Rng rng_;
};

TEST(RandomRouted, StepsKeepEveryInvariant) {
  Draws draws(1);
  const int count = testing::draws_of(60, 3000);
  int ran = 0;
  for (int i = 0; i < count; ++i) {
    const std::vector<std::string> set = draws.next();
    SCOPED_TRACE(fmt::format("{}", fmt::join(set, " --set ")));
    Diagnostics diagnostics;
    const auto config = testing::try_scenario("scenarios/fabric/deepseek_v3_decode_ep72_h100.yaml",
                                              set, diagnostics);
    if (!diagnostics.ok()) {
      const std::string text = diagnostics.text();
      EXPECT_TRUE(text.find("cannot have equal parts") != std::string::npos ||
                  testing::is_a_mismatch(text))
          << text;
      continue;
    }
    const auto sim = simulate(config, Evaluation::times, Provenance::classes);
    if (!sim) {
      EXPECT_NE(sim.error().find("needed"), std::string::npos) << sim.error();
      continue;
    }
    ++ran;
    for (const std::string& broken : testing::broken_invariants(*sim)) ADD_FAILURE() << broken;
  }
  EXPECT_GT(ran, count / 3);
}

// A slower network, or a narrower one, never makes a serial step faster.
TEST(RandomRouted, LessNetworkTakesNoLessTime) {
  const std::string scenario = "scenarios/fabric/deepseek_v3_decode_ep72_h100.yaml";
  const auto time = [&](const std::vector<std::string>& more) {
    std::vector<std::string> set{"step.overlap=serial", "system.gpu.calibration=none",
                                 "system.topology.network.nodes_per_leaf=3",
                                 "system.topology.network.routing=adaptive"};
    set.insert(set.end(), more.begin(), more.end());
    const auto sim = simulate(testing::scenario(scenario, set), Evaluation::times);
    EXPECT_TRUE(sim.has_value());
    return sim->execution.time;
  };
  const Duration plain = time({});
  EXPECT_GT(time({"system.topology.network.oversubscription=8",
                  "system.topology.network.through_rail=false"}),
            plain);
  EXPECT_GT(time({"system.topology.adapters.port=100 Gbit/s"}), plain);
  EXPECT_GT(time({"step.expert_load.drift=1"}), plain);
  EXPECT_GT(time({"parallel.expert_placement=contiguous"}), plain);
  EXPECT_GT(time({"parallel.dispatch_type=bf16"}), plain);
}

}  // namespace
}  // namespace tiersim::random_routed_test
