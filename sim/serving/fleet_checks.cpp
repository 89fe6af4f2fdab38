#include "sim/serving/fleet_checks.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/serving/pools.hpp"

namespace tiersim {
namespace {

void check_rebalance(Fields& f, const ServingConfig& c) {
  if (!c.server.expert_rebalance || c.scenario.ffn) return;
  const ParallelConfig& p = c.scenario.parallel;
  f.check(!c.prefill, "server.expert_rebalance", "is not modelled beside two kinds of hardware",
          "leave it out, or prefill");
  if (c.prefill) return;
  f.check(c.scenario.model.moe && p.experts == ExpertSharing::spread && p.tensor > 1,
          "server.expert_rebalance", "has no effect: no GPUs have experts of their own",
          "leave it out, or parallel.experts: spread");
  f.check(p.pipeline == 1, "server.expert_rebalance", "is not modelled for stages of a pipeline",
          "parallel.pipeline: 1, or leave it out");
}

}  // namespace

void check_fleet(Fields& f, const ServingConfig& c) {
  const std::int64_t count = replicas(c.scenario) + (c.prefill ? replicas(prefill_scenario(c)) : 0);
  const ServerConfig& server = c.server;
  if (server.stragglers) {
    const std::vector<std::int64_t>& slow = server.stragglers->replicas;
    for (std::size_t i = 0; i < slow.size(); ++i) {
      const std::string key = fmt::format("server.stragglers.replicas.{}", i);
      f.check(slow[i] >= 0 && slow[i] < count, key, fmt::format("there is no replica {}", slow[i]),
              fmt::format("0 to {}", count - 1));
      f.check(std::ranges::count(slow, slow[i]) == 1, key, "is named twice", "each once");
    }
  }
  f.check(!server.handover || server.disaggregation || c.prefill, "server.handover",
          "has no effect: every replica reads its prompts itself",
          "leave it out, or server.disaggregation, or prefill");
  f.check(server.first_token() != FirstToken::decode || !server.prefix_cache || c.prefill,
          "server.handover.first_token",
          "of decode beside a prefix cache that all replicas have is not modelled",
          "with_handover, or prefill, whose replicas alone have the cache");
  const bool early = server.hand_over_send() != HandOverSend::at_end;
  const LlmConfig& model = c.scenario.model;
  f.check(!early || !model.encoder, "server.handover.send",
          "before the end is not modelled for models with an encoder", "at_end");
  f.check(!early || (!model.linear && !model.compression), "server.handover.send",
          "before the end is not modelled for models with states, which change until then",
          "at_end");
  f.check(!early || !model.attention_window, "server.handover.send",
          "before the end is not modelled for models with a window, whose layers keep of a prompt "
          "what they need at its end",
          "at_end");
  f.check(server.hand_over_send() != HandOverSend::by_piece ||
              server.scheduler.policy == SchedulerPolicy::chunked,
          "server.handover.send", "of by_piece has no effect: prompts are read whole",
          "by_layer, or server.scheduler.policy: chunked");
  f.check(server.hand_over_send() != HandOverSend::by_layer ||
              (c.prefill ? c.prefill->parallel : c.scenario.parallel).pipeline == 1,
          "server.handover.send", "of by_layer is not modelled for stages of a pipeline",
          "by_piece, or no stages where prompts are read");
  check_rebalance(f, c);
  if (!server.failures && !server.scaling) return;
  const std::string key = server.failures ? "server.failures" : "server.scaling";
  f.check(!c.prefill, key, "is not modelled beside replicas that hand over to each other",
          "leave it out, or prefill");
  f.check(c.scenario.parallel.pipeline == 1, key, "is not modelled for stages of a pipeline",
          "parallel.pipeline: 1, or leave it out");
  if (!server.scaling) return;
  f.check(
      server.scaling->min_replicas <= count, "server.scaling.min_replicas",
      fmt::format("of {} is more than the {} of the system", server.scaling->min_replicas, count),
      "fewer, or more GPUs (system.gpus.count)");
  const auto& tier = server.scaling->weights_from;
  f.check(!tier || c.scenario.system.tiers.contains(*tier), "server.scaling.weights_from",
          fmt::format("the system has no tier '{}'", tier.value_or("")),
          "a tier of the system beside placement.near");
  f.check(!tier || *tier != c.scenario.placement.near, "server.scaling.weights_from",
          "is the tier that the weights are loaded into", "another tier of the system");
}

}  // namespace tiersim
