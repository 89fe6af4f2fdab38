#pragma once
// Random limits of a scheduler: pools with little room, every policy of blocks, layers of all
// kinds.
#include <array>
#include <cstdint>

#include "sim/base/rng.hpp"
#include "workloads/serving/scheduler.hpp"

namespace tiersim {

struct RandomScheduler {
  ServerConfig config;
  BlockLimits limits;
  bool splits = false;      // the first replica prefills, the second one decodes
  std::size_t flights = 1;  // iterations under way at a time
  bool prefetches = false;  // at some moments

  RandomScheduler(SchedulerPolicy policy, Rng& of) : rng_(of) { draw_limits(policy); }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool chance(double share) { return rng_.uniform() < share; }

  void draw_limits(SchedulerPolicy policy) {
    SchedulerConfig& c = config.scheduler;
    c.policy = policy;
    c.max_sequences = between(1, 8);
    c.max_batched_tokens = c.max_sequences + between(0, 40);
    limits.block = between(1, 4);
    limits.blocks = between(6, 60);
    constexpr std::array kWatermarks{0.0, 0.05, 0.3};
    config.kv.watermark = kWatermarks[rng_.below(kWatermarks.size())];
    config.kv.admission = chance(0.25) ? Admission::whole : Admission::prompt;
    config.kv.preemption = chance(0.5) ? Preemption::swap : Preemption::recompute;
    if (config.kv.preemption == Preemption::swap) limits.swap_blocks = between(0, 60);
    const bool together = policy == SchedulerPolicy::static_batch;
    if (chance(0.2) && policy != SchedulerPolicy::chunked) {
      limits.encoder = true;
    } else if (chance(0.6) && !together) {
      limits.prefix_block = limits.block * between(1, 3);
      const std::int64_t levels = between(0, 2);
      const auto eviction = [&] {
        return static_cast<Eviction>(rng_.below(kEvictionNames.size()));
      };
      for (std::int64_t l = 0; l < levels; ++l)
        limits.prefix_levels.emplace_back(between(0, 30), eviction());
      limits.prefix_eviction = eviction();
      limits.write_policy = static_cast<WritePolicy>(rng_.below(kWritePolicyNames.size()));
      if (chance(0.6)) draw_layers();
      draw_retention();
    } else if (chance(0.3)) {
      limits.groups = {{.blocks = between(1, 3), .most = between(2, 8)}};
      if (chance(0.5)) limits.groups.push_back({.blocks = between(1, 3)});
    }
    splits = !together && !limits.encoder && chance(0.3);
    if (!together && !limits.encoder && chance(0.25)) {
      SpeculationConfig drafts{.tokens = between(1, 4)};
      drafts.draft.kind = "ngram";
      drafts.acceptance.rate = Sourced<double>{.value = 0.6};
      limits.drafting.emplace(drafts, 1);
      limits.blocks *= 6;  // the shortest request has room
    }
    if (chance(0.5)) flights = static_cast<std::size_t>(between(2, 4));
  }

  // Lifetimes, pauses of sessions and loads beside the prompts' own iterations.
  void draw_retention() {
    const auto lifetime = [&] { return Duration(between(1, 40)); };
    if (chance(0.4)) limits.prefix_ttl = lifetime();
    for (PrefixLevel& level : limits.prefix_levels)
      if (chance(0.4)) level.ttl = lifetime();
    if (limits.write_policy != WritePolicy::write_back)
      for (std::size_t l = 0; l < limits.prefix_levels.size(); ++l) {
        limits.prefix_levels[l].exclusive = l > 0 && chance(0.5);
        if (chance(0.3)) limits.prefix_levels[l].queue = between(0, 20);
      }
    limits.layerwise_load = chance(0.4);
    prefetches = chance(0.5);
    if (!prefetches && limits.write_policy == WritePolicy::write_through)
      limits.keep_in_pool = chance(0.6);
    if (!chance(0.5)) return;
    limits.tool_calls = chance(0.7) ? PausedBlocks::preserve : PausedBlocks::discard;
    limits.pause_limits = {.time = lifetime(), .blocks = between(0, limits.blocks)};
  }

  // Layers that keep everything, a window, a chunk or a state, in a pool with room for them.
  void draw_layers() {
    limits.groups.clear();
    if (chance(0.8)) limits.groups.push_back({.blocks = between(1, 2)});
    if (chance(0.5)) limits.groups.push_back({.blocks = between(1, 2), .most = between(1, 7)});
    if (chance(0.3) || limits.groups.empty()) {
      const std::int64_t chunk = between(1, 7 * limits.block);
      limits.groups.push_back({.blocks = between(1, 2),
                               .most = (chunk + limits.block - 1) / limits.block,
                               .chunk = chunk});
    }
    if (chance(0.5))
      limits.groups.push_back({.blocks = between(1, 3), .most = 1, .is_state = true});
    if (chance(0.3)) limits.states = KeptStates::all;
    limits.blocks *= 3;
  }

  Rng& rng_;
};

}  // namespace tiersim
