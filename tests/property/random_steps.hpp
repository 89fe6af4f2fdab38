#pragma once
// Random (system, model, method, step, sharing) draws from the shipped configurations. Each runs
// with every invariant met, or is refused with a reason that the user can act on.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/step/simulate.hpp"
#include "tests/property/random_sharing.hpp"
#include "tests/support/invariants.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::testing {

class RandomSteps {
 public:
  explicit RandomSteps(std::uint64_t seed)
      : rng_(seed, "random steps"),
        systems_(shipped("systems")),
        models_(shipped("models")),
        scenarios_(shipped_scenarios()) {
    // Half of the models fit on one GPU, or no draw would run on a small card.
    for (const std::string& model : models_)
      for (const char* size : {"_7b", "_8b", "_lite", "_20b", "t5_", "phi4", "_30b_"})
        if (model.find(size) != std::string::npos) small_models_.push_back(model);
    // Those fit few other models.
    std::erase_if(scenarios_, [](const std::string& path) {
      return path.starts_with("scenarios/models/") || path.starts_with("scenarios/speculation/") ||
             path.starts_with("scenarios/context/") || path.starts_with("scenarios/fabric/") ||
             path.starts_with("scenarios/afd/");
    });
    // A topology has a number of GPUs of its own: random_routed_test.cpp.
    std::erase_if(systems_, [&](const std::string& path) { return sharing_.has_topology(path); });
  }

  /// A scenario to start from, with settings on top.
  struct Draw {
    std::string scenario;
    std::vector<std::string> set;

    std::string text() const {
      std::string out = scenario;
      for (const std::string& setting : set) out += " --set " + setting;
      return out;
    }
  };

  Draw next() {
    const bool shares = rng_.below(2) == 0;
    const std::string system = one_of(shares ? sharing_.systems() : systems_);
    const std::string model = one_of(shares && rng_.below(2) == 0 ? sharing_.latent_models()
                                     : rng_.below(2) == 0         ? small_models_
                                                                  : models_);
    const bool prefill = rng_.below(3) == 0;
    Draw draw{.scenario = one_of(scenarios_),
              .set = {"system.base=" + system, "model.base=" + model,
                      "placement.far=" + sharing_.far_tier(system),
                      fmt::format("step.batch={}", log_uniform(256)),
                      fmt::format("step.context={}", log_uniform(131'072)),
                      "step.weight_type=" + one_of({"bf16", "fp8", "int8", "int4"}),
                      "step.kv_type=" + one_of({"bf16", "fp8", "int8", "int4"}),
                      "step.overlap=" + one_of({"serial", "micro_batches", "prefetch_screening"}),
                      std::string("step.kind=") + (prefill ? "prefill" : "decode")}};
    if (rng_.below(8) == 0) draw.set.emplace_back("system.tiers.hbm.memory.level=analytic");
    draw.set.push_back(fmt::format("step.encoder_context={}",
                                   model.find("t5_") == std::string::npos ? 0 : log_uniform(2048)));
    if (!sharing_.can_share(system) && rng_.below(16) != 0)
      draw.set.push_back(RandomSharing::alone());
    if (sharing_.can_share(system) && rng_.below(8) != 0)
      add(draw, sharing_.draw(rng_, system, model));
    if (sharing_.can_share(system) && rng_.below(prefill ? 2 : 32) == 0)
      add(draw, sharing_.draw_handover(rng_, system));
    if (rng_.below(6) == 0)
      draw.set.push_back(fmt::format("placement.weights={{share: {}, read: {}}}",
                                     one_of({"0.1", "0.9", "1"}),
                                     one_of({"copied", "prefetched", "direct"})));
    const auto is_one = [&](const char* name) { return model.ends_with(name); };
    if (is_one("deepseek_v32.yaml") || is_one("glm5.yaml") || is_one("glm52.yaml"))
      draw.set.emplace_back("method={name: dsa}");
    if (model.find("deepseek_v4_") != std::string::npos)
      draw.set.emplace_back("method={name: csa}");
    if (is_one("minimax_m3.yaml")) draw.set.emplace_back("method={name: msa}");
    return draw;
  }

 private:
  static void add(Draw& draw, const std::vector<std::string>& more) {
    draw.set.insert(draw.set.end(), more.begin(), more.end());
  }

  std::string one_of(const std::vector<std::string>& choices) {
    return choices[rng_.below(choices.size())];
  }
  /// 1 to most, with equal probability for each power of two.
  std::int64_t log_uniform(std::int64_t most) {
    return static_cast<std::int64_t>(
        std::exp2(rng_.uniform() * std::log2(static_cast<double>(most) + 1)));
  }

  Rng rng_;
  RandomSharing sharing_;
  std::vector<std::string> systems_;
  std::vector<std::string> models_;
  std::vector<std::string> small_models_;
  std::vector<std::string> scenarios_;
};

/// Runs `draws` draws, and more until a quarter as many were not refused, but no more than four
/// times as many; each broken invariant is a failure with the text of the draw.
inline void expect_invariants(std::uint64_t seed, int draws) {
  RandomSteps steps(seed);
  int ran = 0;
  for (int i = 0; i < draws || (ran <= draws / 4 && i < 4 * draws); ++i) {
    const RandomSteps::Draw draw = steps.next();
    Diagnostics diagnostics;
    const auto config = try_scenario(draw.scenario, draw.set, diagnostics);
    if (!diagnostics.ok()) {
      for (const Diagnostic& d : diagnostics.list())
        EXPECT_TRUE(is_a_mismatch(d.text()) || is_a_misfit(d.text())) << d.text() << "\n"
                                                                      << draw.text();
      continue;
    }
    const auto sim = simulate(config, Evaluation::times, Provenance::classes);
    if (!sim) {
      EXPECT_NE(sim.error().find("needed"), std::string::npos) << sim.error() << "\n"
                                                               << draw.text();
      continue;
    }
    ++ran;
    for (const std::string& broken : broken_invariants(*sim))
      ADD_FAILURE() << broken << "\n" << draw.text();
  }
  EXPECT_GT(ran, draws / 4) << "too many draws were refused to say much";
}

/// Largest gain of a serial step from harder work. Write-backs run beside the chain, and one that
/// moves to another time leaves its share of a channel to the chain.
inline Duration slack(const Simulation& sim) {
  Duration sum{};
  for (std::size_t op = 0; op < sim.plans.size(); ++op)
    if (sim.graph.ops[op].kind == OpKind::transfer && sim.graph.ops[op].phase == Phase::write_back)
      sum += sim.plans[op].uncontended(sim.system->channels());
  return sum;
}

/// The error of a fit to timed kernels, which are not monotone themselves; the median of the worst
/// fit that is shipped is above it (`tiersim validate kernels`).
inline constexpr double kFitError = 0.05;

/// True where a collective of the scenario has the time of a fit, as a timed kernel has.
inline bool has_fitted_collectives(const ScenarioConfig& config) {
  return std::ranges::any_of(config.system.fabrics, [](const auto& fabric) {
    return fabric.second.collective.kind == "timed_collective";
  });
}

/// Runs each draw again with one setting made harder: the serial step takes no less time, of timed
/// kernels and collectives no less but for the error of their fits. Draws go on where too many of
/// them are refused, as happens to a few.
inline void expect_monotone(std::uint64_t seed, int draws, bool timed_kernels) {
  RandomSteps steps(seed);
  int compared = 0;
  for (int drawn = 0; drawn < draws || (compared <= draws / 2 && drawn < 8 * draws); ++drawn) {
    RandomSteps::Draw draw = steps.next();
    // A collective's algorithm is chosen for an idle port: more bytes may choose one that shares a
    // busy port better.
    std::erase_if(draw.set, RandomSharing::shares_a_port);
    draw.set.insert(draw.set.end(), {"step.overlap=serial", "step.kind=decode"});
    if (!timed_kernels) draw.set.emplace_back("system.gpu.calibration=none");
    Diagnostics diagnostics;
    const auto config = try_scenario(draw.scenario, draw.set, diagnostics);
    if (!diagnostics.ok()) continue;
    const auto easy = simulate(config, Evaluation::times, Provenance::classes);
    if (!easy) continue;
    for (const std::string& harder :
         {std::string("what_if.far_bandwidth=0.5"), std::string("what_if.far_latency=3"),
          fmt::format("step.batch={}", config.step.batch * 2),
          fmt::format("step.context={}", config.step.context * 2)}) {
      draw.set.push_back(harder);
      const auto hard =
          simulate(try_scenario(draw.scenario, draw.set, diagnostics), Evaluation::times);
      if (diagnostics.ok() && hard) {
        ++compared;
        const bool fitted = timed_kernels || has_fitted_collectives(config);
        const double least = to_seconds(easy->execution.time) * (fitted ? 1 - kFitError : 1);
        EXPECT_GE(to_seconds(hard->execution.time + slack(*easy)), least) << draw.text();
      }
      draw.set.pop_back();
    }
  }
  EXPECT_GT(compared, draws / 2) << "too many draws were refused to say much";
}

}  // namespace tiersim::testing
