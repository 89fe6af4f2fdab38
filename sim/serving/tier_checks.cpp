#include "sim/serving/tier_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"
#include "workloads/serving/prefix_parts.hpp"

namespace tiersim {

void check_room(Fields& f, const ScenarioConfig& c, const std::string& tier, Bytes asked,
                const std::string& key, bool by_all) {
  const auto found = c.system.tiers.find(tier);
  if (found == c.system.tiers.end() || !found->second.memory.spec) return;
  try {
    const Bytes capacity =
        found->second.memory.spec->build_units(found->second.unit_count())->capacity();
    const std::int64_t sharers = std::max<std::int64_t>(1, c.system.sharers(tier));
    const Bytes part = Bytes::from_base(capacity.in_base() / sharers) *
                       (by_all ? c.system.gpus.count : c.parallel.devices());
    f.check(asked <= part, key,
            fmt::format("is above the {} that {} of tier '{}'", format_quantity(part),
                        by_all ? "all replicas have" : "a replica has", tier),
            "less, or a larger tier");
  } catch (const UnitOverflow&) {
  }
}

namespace {

void check_prefix_tiers(Fields& f, const ServingConfig& c) {
  const auto& tiers = c.server.prefix_cache->tiers;
  std::vector<std::string> known;
  for (const auto& [name, tier] : c.scenario.system.tiers)
    if (name != c.scenario.placement.near) known.push_back(name);
  const std::string hint = known.empty() ? "it has no other tiers" : "there are: " + join(known);
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    const std::string& tier = tiers[i].tier;
    const std::string key = fmt::format("server.prefix_cache.tiers.{}", i);
    f.check(c.scenario.system.tiers.contains(tier), key + ".tier",
            "the system has no tier '" + tier + "'", hint);
    f.check(tier != c.scenario.placement.near, key + ".tier",
            "tier '" + tier + "' has the pool, which keeps prefixes as it is", hint);
    f.check(std::ranges::count(tiers, tier, &PrefixTier::tier) == 1, key + ".tier",
            "tier '" + tier + "' is named twice", "each once, the nearest first");
    check_room(f, c.scenario, tier, tiers[i].capacity, key + ".capacity", tiers[i].shared);
  }
}

// The blocks of a tier are made of those of the tier above it.
void check_tier_blocks(Fields& f, const ServingConfig& c) {
  const PrefixCacheConfig& cache = *c.server.prefix_cache;
  std::int64_t above = c.workload.prefix_block;
  const bool exclusive = std::ranges::any_of(cache.tiers, &PrefixTier::exclusive);
  std::size_t longer = 0;
  for (std::size_t i = 0; i < cache.tiers.size(); ++i) {
    const std::int64_t block = cache.tiers[i].block.value_or(above);
    const std::string key = fmt::format("server.prefix_cache.tiers.{}.block", i);
    f.check(block % above == 0, key,
            fmt::format("{} positions are no multiple of {} of {} tokens", block,
                        i == 0 ? "a prefix block" : "the blocks of the tier above it,", above),
            fmt::format("a multiple of it, such as {}", 16 * above));
    f.check(i == 0 || block == above || !exclusive, key,
            "is not simulated beside an exclusive tier, which gets blocks one by one",
            "leave it out, or state it for the first tier");
    longer += block > above ? 1 : 0;
    f.check(longer <= kMostLongerBlocks || block == above, key,
            fmt::format("is a size too many: {} are simulated beside that of a prefix block",
                        kMostLongerBlocks),
            "the size of another tier");
    if (block % above == 0) above = block;
  }
}

bool calls_tools(const WorkloadConfig& c) {
  if (c.sessions) return c.sessions->tools || c.sessions->sub_agents;
  return c.trace && c.trace->sessions > 0;
}

void check_tool_calls(Fields& f, const ServingConfig& c) {
  if (!c.server.prefix_cache->tool_calls) return;
  f.check(calls_tools(c.workload), "server.prefix_cache.tool_calls",
          "has no effect: no session of the workload calls a tool",
          "leave it out, or workload.sessions.tools, or a trace with sessions");
}

void check_loads(Fields& f, const ServingConfig& c) {
  f.check(!c.server.prefix_cache->layerwise_load || c.scenario.parallel.pipeline == 1,
          "server.prefix_cache.layerwise_load",
          "would need the loads of each stage of the pipeline, which begin and end together here",
          "leave it out, or parallel.pipeline: 1");
  const auto& prefetch = c.server.prefix_cache->prefetch;
  if (!prefetch || prefetch->before_tool_ends == Duration{}) return;
  const std::string key = "server.prefix_cache.prefetch.before_tool_ends";
  f.check(calls_tools(c.workload), key, "has no effect: no session of the workload calls a tool",
          "leave it out, or workload.sessions.tools, or a trace with sessions");
  const bool known = c.server.routing == Routing::prefix || c.server.routing == Routing::session;
  f.check(known || replicas(c.scenario) == 1, key,
          "would load into a replica that need not get the request",
          "server.routing: prefix or session, or one replica");
}

}  // namespace

void check_lower_tiers(Fields& f, const ServingConfig& c) {
  check_prefix_tiers(f, c);
  check_tier_blocks(f, c);
  check_tool_calls(f, c);
  check_loads(f, c);
}

}  // namespace tiersim
