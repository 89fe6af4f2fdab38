// Rules of a step whose MLPs are on GPUs of their own.
#include <algorithm>

#include <fmt/format.h>

#include "hwmodels/collective/routed.hpp"
#include "sim/base/text.hpp"
#include "sim/step/packet_network.hpp"
#include "sim/step/scenario_checks.hpp"
#include "workloads/llm/shard.hpp"

namespace tiersim {
namespace {

// Reports settings that are not modelled together with FFN GPUs.
void check_combinations(Fields& f, const ScenarioConfig& c) {
  const auto alone = [&](bool holds, const std::string& key, const std::string& hint) {
    f.check(holds, key, "is not modelled beside ffn", hint);
  };
  alone(c.step.kind == StepKind::decode, "step.kind", "decode, or leave out ffn");
  alone(c.step.overlap == Overlap::serial, "step.overlap",
        "serial; ffn.micro_batches take turns by themselves");
  alone(c.parallel.pipeline == 1, "parallel.pipeline", "1, or leave out ffn");
  alone(!c.parallel.cuts_prompts(), "parallel.context", "1, or leave out ffn");
  alone(!c.speculation, "speculation", "leave out one of speculation and ffn");
  alone(!c.placement.weights || !c.placement.weights->any(), "placement.weights",
        "leave out one of placement.weights and ffn");
  f.check(!c.model.encoder, "ffn",
          "is not modelled for model '" + c.model.name + "', which has an encoder",
          "a model without, or leave it out");
  f.check(c.parallel.experts == ExpertSharing::split && c.parallel.redundant_experts == 0,
          c.parallel.experts == ExpertSharing::split ? "parallel.redundant_experts"
                                                     : "parallel.experts",
          "has no effect: other GPUs have the experts", "leave it out, or set it in ffn");
  f.check(!c.model.moe || !c.model.moe->removed, "ffn",
          "the experts of model '" + c.model.name + "' are removed", "leave it out");
  f.check(!c.model.moe || !c.model.moe->latent || c.ffn->experts == ExpertSharing::split,
          "ffn.experts",
          "of model '" + c.model.name +
              "' read a latent, and whether it is made before or after the send is not modelled",
          "split");
}

// Tiers and links that a step may use: the far tier and networks, with their paths. A GPU's own
// memory is never shared.
std::vector<std::string> devices_of_step(const SystemConfig& system, const std::string& far) {
  std::vector<std::string> out;
  const auto add = [&](const std::vector<std::string>& links) {
    out.insert(out.end(), links.begin(), links.end());
  };
  if (const auto tier = system.tiers.find(far); tier != system.tiers.end()) {
    out.push_back(far);
    add(tier->second.path);
  }
  for (const auto& [name, fabric] : system.fabrics) {
    add(fabric.path);
    add(fabric.beyond);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// The two kinds of GPUs share no device, and each reaches the other.
void check_hardware(Fields& f, const ScenarioConfig& c) {
  const auto of = [&](const SystemConfig& system, const std::string& key) {
    for (const std::string& device : devices_of_step(system, c.placement.far))
      f.check(system.sharers(device) == 1, key + ".shared",
              "GPUs share '" + device + "', which is not modelled beside ffn",
              "a system whose GPUs have devices of their own");
    for (const std::string& device : at_packet_level(system))
      f.check(false, fmt::format("{}.{}.level", key, device), "packets are not modelled beside ffn",
              "flow or analytic");
    const FabricConfig* fabric = system.fabric(Fabric::ffn);
    f.check(fabric != nullptr, key,
            "system '" + system.name + "' has no fabric 'ffn', over which tokens go to other GPUs",
            "fabrics: {ffn: {collective: ..., path: [...]}} of both systems");
    f.check(fabric == nullptr || fabric->collective.kind != kRoutedKind, key + ".fabrics.ffn",
            "is routed over a topology, which two systems do not share",
            "a collective that has sends of its own, such as nccl or direct");
  };
  of(c.system, "system");
  of(c.ffn->system, "ffn.system");
  f.check(!c.ffn->system.host, "ffn.system.host",
          "has no effect: the CPU of the GPUs that attend (system.host) begins a step",
          "leave it out");
}

}  // namespace

void check_ffn(Fields& f, const ScenarioConfig& c) {
  if (!c.ffn) return;
  check_combinations(f, c);
  check_hardware(f, c);
  const FfnConfig& ffn = *c.ffn;
  const ParallelConfig parallel = ffn.parallel();
  const std::string near = ffn.near.value_or(c.placement.near);
  std::vector<std::string> tiers;
  for (const auto& [name, tier] : ffn.system.tiers) tiers.push_back(name);
  const auto tier = ffn.system.tiers.find(near);
  f.check(tiers.empty() || (tier != ffn.system.tiers.end() && tier->second.path.empty()),
          "ffn.near", "'" + near + "' is no memory of the FFN GPUs themselves",
          "their tiers are: " + join(tiers));
  if (parallel.tensor > 1)
    f.check(
        ffn.system.fabric(Fabric::tensor) != nullptr, "ffn.system",
        "system '" + ffn.system.name + "' has no fabric 'tensor', over which its GPUs share MLPs",
        "fabrics.tensor, or one GPU");
  const bool routed = ffn.system.fabric(Fabric::tensor) != nullptr &&
                      ffn.system.fabric(Fabric::tensor)->collective.kind == kRoutedKind;
  f.check(routed || ffn.system.gpus.hosts == 1 || parallel.tensor == 1 ||
              (ffn.experts == ExpertSharing::spread && ffn.dense == DenseSharing::data),
          "ffn.system.gpus.hosts",
          fmt::format("{} hosts do not share a dense MLP or a part of every expert: fabrics.tensor "
                      "is within one",
                      ffn.system.gpus.hosts),
          "1, or experts: spread and dense: data");
  // The model as a whole: heads and vocabulary are none of theirs.
  for (const ShardProblem& problem : shard_problems(c.model, parallel)) {
    const bool is_key = problem.key == "experts" || problem.key == "dense";
    f.check(false, is_key ? "ffn." + problem.key : "ffn.system.gpus.count", problem.message,
            problem.hint);
  }
}

void check_ffn_batch(Fields& f, const ScenarioConfig& c) {
  if (!c.ffn) return;
  const std::int64_t own = c.parallel.own_sequences(c.step.batch);
  f.check(own >= c.ffn->micro_batches, "ffn.micro_batches",
          fmt::format("{} are more than the {} sequences of a GPU that attends",
                      c.ffn->micro_batches, own),
          "fewer, or a larger step.batch");
}

}  // namespace tiersim
