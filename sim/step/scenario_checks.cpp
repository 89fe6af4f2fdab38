#include "sim/step/scenario_checks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "hwmodels/collective/routed.hpp"
#include "sim/base/text.hpp"
#include "sim/step/host_tiers.hpp"
#include "sim/step/packet_network.hpp"
#include "workloads/llm/device_step.hpp"
#include "workloads/llm/ffn_share.hpp"
#include "workloads/llm/shard.hpp"

namespace tiersim {
namespace {

// True where the network for this purpose reaches other hosts by the topology.
bool is_routed(const ScenarioConfig& c, Fabric purpose) {
  const FabricConfig* fabric = c.system.fabric(purpose);
  return fabric != nullptr && fabric->collective.kind == kRoutedKind;
}

std::vector<std::string> tier_names(const SystemConfig& system) {
  std::vector<std::string> out;
  for (const auto& [name, tier] : system.tiers) out.push_back(name);
  return out;
}

void check_far_weights(Fields& f, const ScenarioConfig& c) {
  if (!c.placement.weights) return;
  const std::string key = "placement.weights";
  for (const auto& [tier, part] : c.placement.weights->tiers) {
    const std::string at = fmt::format("{}.tiers.{}", key, tier);
    f.check(c.system.tiers.contains(tier), at, "the system has no tier '" + tier + "'",
            "its tiers are: " + join(tier_names(c.system)));
    f.check(tier != c.placement.near, at, "is the near tier", "leave it out, and a smaller share");
  }
  if (!c.placement.weights->any()) return;
  f.check(c.placement.far != c.placement.near || !c.placement.weights->tiers.empty(), key,
          "lie in the near tier: placement.far is the same",
          "another placement.far, or leave it out");
  f.check(c.step.overlap == Overlap::serial, key, "is not modelled beside step.overlap",
          "step.overlap: serial, or leave it out");
  f.check(!c.speculation, key, "which of the drafter's weights are far is not modelled",
          "leave out one of placement.weights and speculation");
  f.check(!c.model.encoder, key,
          "model '" + c.model.name + "' has an encoder, whose weights are not modelled there",
          "leave it out");
}

void check_cpu_attention(Fields& f, const ScenarioConfig& c) {
  if (!c.method.method || !c.method.method->attends_on_cpu()) return;
  const std::string key = "method.attend_on";
  f.check(c.system.cpu.has_value(), key,
          "system '" + c.system.name + "' does not say what its CPUs do",
          "system.cpu: {base: devices/host_cpu_flexgen.yaml}");
  f.check(c.placement.far != c.placement.near, key, "needs keys and values in the host's memory",
          "another placement.far");
  const auto far = c.system.tiers.find(c.placement.far);
  const bool known = far != c.system.tiers.end() && c.placement.far != c.placement.near;
  const bool drives = known && far->second.memory.kind == "nvme";
  f.check(
      !known ||
          ((drives || far->second.memory.kind == "dram") && is_of_the_host(c.system, far->second)),
      key, "needs memory or drives of the host, and tier '" + c.placement.far + "' is not its own",
      "a tier of DRAM or NVMe behind PCIe and a root complex, or behind NVLink-C2C");
  f.check(!drives || host_memory(c.system, c.placement.far), key,
          "needs exactly one tier of the host's memory for queries and outputs, beside the drives",
          "one tier of DRAM behind PCIe and a root complex");
  f.check(c.parallel.context.value_or(1) == 1, key,
          "is not modelled where context ranks share a sequence",
          "parallel.context: 1, or attend_on: gpu");
  f.check(c.step.overlap == Overlap::serial, key, "is not modelled beside step.overlap",
          "step.overlap: serial, or leave it out");
}

}  // namespace

void check_placement(Fields& f, const ScenarioConfig& c) {
  if (c.system.tiers.empty()) return;  // the system itself lacks them, which is reported there
  const auto check_tier = [&](const std::string& key, const std::string& name) {
    f.check(c.system.tiers.contains(name), key, "the system has no tier '" + name + "'",
            "its tiers are: " + join(tier_names(c.system)));
  };
  check_tier("placement.near", c.placement.near);
  check_tier("placement.far", c.placement.far);
  const auto near = c.system.tiers.find(c.placement.near);
  f.check(near == c.system.tiers.end() || near->second.path.empty(), "placement.near",
          "tier '" + c.placement.near + "' is not the GPU's own memory: links lead to it",
          "kernels read weights and activations from a tier without a path");
  check_far_weights(f, c);
  check_cpu_attention(f, c);
}

void check_fabric(Fields& f, const ScenarioConfig& c, Fabric purpose, const std::string& key) {
  f.check(c.system.fabric(purpose) != nullptr, key,
          "system '" + c.system.name + "' has no fabric '" + std::string(name(purpose)) + "'",
          "fabrics.<purpose> of a system says how its GPUs reach each other");
}

// True where the network between tensor GPUs is one between hosts.
bool spans_hosts(const ScenarioConfig& c) {
  const FabricConfig* fabric = c.system.fabric(Fabric::tensor);
  return is_routed(c, Fabric::tensor) ||
         (fabric != nullptr && std::ranges::any_of(fabric->path, [&](const std::string& name) {
            const auto link = c.system.links.find(name);
            return link != c.system.links.end() && link->second.kind == "network";
          }));
}

void check_replica(Fields& f, const ScenarioConfig& c) {
  const ParallelConfig& p = c.parallel;
  const LlmConfig model = c.ffn ? attention_part(c.model) : c.model;
  ParallelConfig attending = p;
  if (c.ffn) attending.experts = ExpertSharing::split;  // parallel.experts: check_ffn()
  for (const ShardProblem& problem : shard_problems(model, attending))
    f.check(false, "parallel." + problem.key, problem.message, problem.hint);
  f.check(c.system.gpus.count % p.devices() == 0, "parallel",
          fmt::format("a replica is {} GPUs, and system '{}' has {}", p.devices(), c.system.name,
                      c.system.gpus.count),
          p.cuts_prompts() ? "system.gpus.count: a multiple of tensor x context x pipeline"
                           : "system.gpus.count: a multiple of tensor x pipeline");
  // GPUs with sequences of their own, and whose MLPs are elsewhere, exchange nothing.
  const bool apart = c.ffn && p.sequences_are_spread() && !p.gathers_dense();
  const std::int64_t joined = apart ? p.attention_gpus() : p.tensor;
  if (joined > 1) check_fabric(f, c, Fabric::tensor, "parallel.tensor");
  const std::int64_t on_host = c.system.gpus.count / c.system.gpus.hosts;
  f.check(c.system.gpus.count % p.devices() != 0 || on_host % joined == 0 || spans_hosts(c),
          apart ? "parallel.attention_tensor" : "parallel.tensor",
          fmt::format("{} GPUs do not lie on one host of {}", joined, on_host),
          c.ffn && p.sequences_are_spread() && !apart
              ? "parallel.dense: data, so that only GPUs with the same sequences exchange anything"
              : "fabrics.tensor is within a host: a divisor of its GPUs");
}

void check_indexer(Fields& f, const ScenarioConfig& c) {
  const std::optional<IndexerKind> runs = c.method.method->runs_indexer();
  const auto name = [](IndexerKind kind) {
    return kIndexerKindNames[static_cast<std::size_t>(kind)];
  };
  if (c.model.compression) {
    f.check(runs == IndexerKind::csa, "method",
            "model '" + c.model.name + "' caches rows of several positions beside a window",
            "name: csa");
  } else if (c.model.indexer) {
    f.check(runs == c.model.indexer->kind, "method",
            "model '" + c.model.name + "' attends to the rows that its indexer chooses",
            fmt::format("name: {}", name(c.model.indexer->kind)));
  } else if (runs == IndexerKind::csa) {
    f.check(false, "method.name", "model '" + c.model.name + "' has no compressed rows",
            "a model that has them (deepseek-v4-flash, deepseek-v4-pro), or another method");
  } else if (runs) {
    f.check(
        false, "method.name", "model '" + c.model.name + "' has no indexer",
        fmt::format("a model that has one ({}), or another method",
                    *runs == IndexerKind::dsa ? "deepseek-v3.2, glm-5, glm-5.2" : "minimax-m3"));
  }
}

void check_context(Fields& f, const ScenarioConfig& c) {
  const ParallelConfig& p = c.parallel;
  if (!p.cuts_prompts()) return;
  const std::int64_t positions = c.step.context - c.step.found();
  f.check(c.step.kind == StepKind::decode || positions >= p.context_pieces(), "step.context",
          fmt::format("{} positions are not {} pieces for {} context ranks", positions,
                      p.context_pieces(), p.context_ranks()),
          "a position or more for each piece");
  f.check(!c.step.cached || c.placement.far == c.placement.near, "step.cached",
          "positions of context ranks are not found in another tier than the GPU's own",
          "placement.far: " + c.placement.near);
  check_context_ranks(f, c);
}

void check_context_ranks(Fields& f, const ScenarioConfig& c) {
  const ParallelConfig& p = c.parallel;
  f.check(!c.method.method || c.method.method->caches_all(), "parallel.context",
          "method '" + c.method.name +
              "' caches more or less than a row of each position, and which rank has it is not "
              "modelled",
          "dense, tiered or layer_prefetch");
  f.check(c.step.overlap == Overlap::serial, "step.overlap",
          "the exchange between context ranks overlaps with the attention of its own micro-batch",
          "serial");
  const FabricConfig* fabric = c.system.fabric(Fabric::context);
  check_fabric(f, c, Fabric::context, "parallel.context");
  if (fabric == nullptr) return;
  const std::int64_t on_host = c.system.gpus.count / c.system.gpus.hosts;
  f.check(!is_routed(c, Fabric::context) || p.tensor == 1, "parallel.context",
          fmt::format("each rank is {} GPUs, and a routed collective takes neighbouring GPUs",
                      p.tensor),
          "parallel.tensor: 1, or fabrics.context of another model");
  f.check(fabric != c.system.fabric(Fabric::tensor) || on_host % p.stage_devices() == 0 ||
              is_routed(c, Fabric::context),
          "parallel.context",
          fmt::format("{} ranks of {} GPUs do not lie on one host of {}", p.context_ranks(),
                      p.tensor, on_host),
          "fabrics.context of the system, a network between hosts");
  for (const std::string& name : fabric->path) {
    const auto link = c.system.links.find(name);
    f.check(link == c.system.links.end() || link->second.level != Level::packet, "parallel.context",
            "link '" + name +
                "' of its fabric is at packet level, which has no groups of ranks "
                "spread over others",
            "level: flow");
  }
}

// A method works on one GPU's part of a layer, or on the whole model's if that cannot be shared.
void check_method(Fields& f, const ScenarioConfig& c, const StepConfig& step) {
  if (!c.method.method) return;
  check_indexer(f, c);
  if (c.model.compression && c.method.method->runs_indexer() != IndexerKind::csa) return;
  ParallelConfig layer = c.parallel;
  layer.pipeline = 1;
  if (!shard_problems(c.model, layer).empty()) layer = {};
  const LlmConfig seen = device_model(c.model, step, layer);
  for (const LayerType type : seen.types()) {
    if (!caches_positions(type)) continue;
    for (const MethodProblem& problem : c.method.method->problems(seen.layers_of(type), step))
      f.check(false, "method." + problem.key, problem.message, problem.hint);
  }
  if (c.speculation) return;
  for (const MethodProblem& problem : c.method.method->problems_without_drafts())
    f.check(false, "method." + problem.key, problem.message, problem.hint);
}

void check_cached(Fields& f, const ScenarioConfig& c) {
  if (!c.step.cached) return;
  f.check(c.step.kind == StepKind::prefill, "step.cached",
          "a decode step has all positions but the new ones in its cache", "leave it out");
  f.check(c.step.found() < c.step.context, "step.cached",
          fmt::format("{} of {} positions leaves none to read", c.step.found(), c.step.context),
          "fewer than step.context");
  f.check(!c.model.encoder, "step.cached",
          "model '" + c.model.name + "' has an encoder, which reads its input whole",
          "leave it out");
  f.check(!c.handover, "step.cached",
          "the part of the cache that the decoding GPUs have already is not modelled",
          "leave it or handover out");
  f.check(!c.model.compression, "step.cached",
          "model '" + c.model.name +
              "' has states of its windows and compressors, and a cached prompt would need its own",
          "leave it out");
  f.check(!c.method.method || c.model.compression || c.method.method->caches_all(), "step.cached",
          "method '" + c.method.name + "' does not keep a row of every position",
          "dense, tiered or layer_prefetch");
}

void check_types_and_experts(Fields& f, const ScenarioConfig& c) {
  f.check(!c.model.encoder || !c.step.weight_types.any(), "step.weight_types",
          "model '" + c.model.name + "' has an encoder, whose parts are not told apart",
          "step.weight_type alone");
  f.check(c.model.moe || (!c.step.weight_types.experts && !c.step.weight_types.shared_experts &&
                          !c.step.weight_types.router),
          "step.weight_types", "model '" + c.model.name + "' has no experts",
          "leave experts, shared_experts and router out");
  f.check(c.model.moe || c.step.expert_skew == 0, "step.expert_skew",
          "has no meaning: model '" + c.model.name + "' has no experts", "leave it out");
  f.check(c.model.moe || !c.step.expert_load, "step.expert_load",
          "has no meaning: model '" + c.model.name + "' has no experts", "leave it out");
  const std::int64_t counted = c.step.expert_load ? c.step.expert_load->experts() : 0;
  f.check(!c.model.moe || counted == 0 || counted == c.model.moe->experts,
          "step.expert_load.counted",
          fmt::format("has {} experts in a layer, and model '{}' has {}", counted, c.model.name,
                      c.model.moe ? c.model.moe->experts : 0),
          "counts of this model");
  const auto layers =
      counted == 0 ? 0 : static_cast<std::int64_t>(c.step.expert_load->counted->size());
  f.check(!c.model.moe || layers <= c.model.layers, "step.expert_load.counted",
          fmt::format("has {} layers, and model '{}' has {}", layers, c.model.name, c.model.layers),
          "counts of this model");
  const auto reaches_top_k = [&](const std::vector<std::int64_t>& rows) {
    const auto reached = std::ranges::count_if(rows, [](std::int64_t n) { return n > 0; });
    return reached == 0 || reached >= c.model.moe->experts_per_token;
  };
  f.check(!c.model.moe || counted == 0 || counted != c.model.moe->experts ||
              std::ranges::all_of(*c.step.expert_load->counted, reaches_top_k),
          "step.expert_load.counted",
          fmt::format("has rows of fewer experts in a layer than the {} that a token chooses",
                      c.model.moe ? c.model.moe->experts_per_token : 0),
          "counts of this model, over more tokens");
  f.check(counted == 0 || !c.step.expert_load->placed_by ||
              c.parallel.expert_placement == ExpertPlacement::balanced,
          "step.expert_load.placed_by", "has no effect: experts are not placed by their rows",
          "parallel.expert_placement: balanced, or leave it out");
  const bool exchanges = c.model.moe && c.parallel.experts == ExpertSharing::spread &&
                         c.parallel.sequences_are_spread() && c.parallel.tensor > 1;
  if (c.execution.exchange_sms && f.is_whole() && c.system.gpu.spec) {
    const std::int64_t sms = c.system.gpu.spec->build()->sheet().sms;
    f.check(sms == 0 || sms == c.execution.exchange_sms->of.value, "execution.exchange_sms.of",
            fmt::format("differs from the {} SMs of the system's GPU", sms), std::to_string(sms));
  }
  f.check(!c.execution.exchange_sms || (exchanges && c.step.overlap == Overlap::micro_batches),
          "execution.exchange_sms",
          "has no effect: no exchange between experts runs beside another micro-batch",
          "leave it out, or step.overlap: micro_batches with parallel.experts: spread and "
          "attention: data");
  f.check(c.step.expert_skew == 0 || c.parallel.redundant_experts == 0, "step.expert_skew",
          "is a power law without copies of experts, and parallel.redundant_experts has some",
          "expert_load: {law: log_normal, spread: 1.06}");
  const bool has_law = c.step.expert_load && c.step.expert_load->law != ExpertLaw::even;
  f.check(c.parallel.expert_placement == ExpertPlacement::contiguous || has_law,
          "parallel.expert_placement", "is by loads, and step.expert_load states none",
          "expert_load: {law: log_normal, spread: 1.06}");
}

void check_states(Fields& f, const ScenarioConfig& c) {
  f.check(c.model.linear || c.step.state_type == StateType::fp32, "step.state_type",
          "has no meaning: model '" + c.model.name + "' has no linear attention", "leave it out");
}

void check_latent(Fields& f, const ScenarioConfig& c) {
  f.check(c.step.latent == LatentUnpacking::automatic || c.model.mla, "step.latent",
          "has no meaning: model '" + c.model.name + "' has no latent", "leave it out");
  f.check(c.step.kind == StepKind::prefill || c.step.latent != LatentUnpacking::explicit_heads ||
              c.parallel.latent_slices == 1,
          "step.latent", "a cache of every head's keys has no latent to slice",
          "absorbed, or parallel.latent_slices: 1");
  f.check(!c.model.indexer || c.step.latent != LatentUnpacking::explicit_heads, "step.latent",
          "model '" + c.model.name + "' reads chosen latents, which are not unpacked",
          "absorbed, or leave it out");
}

void check_speculation(Fields& f, const ScenarioConfig& c) {
  if (!c.speculation) return;
  for (const SpeculationProblem& problem : speculation_problems(*c.speculation, c.model))
    f.check(false, "speculation." + problem.path, problem.message, problem.hint);
  if (c.speculation->draft.is(DraftKind::model))
    for (const ShardProblem& problem : shard_problems(c.speculation->draft.model, c.parallel))
      f.check(false, "speculation.draft.model",
              problem.message + fmt::format(" (parallel.{})", problem.key), problem.hint);
  f.check(!c.method.method || c.method.method->verifies_drafts(), "speculation",
          "method '" + c.method.name +
              "' chooses rows by the query, and the union over several new tokens is not published",
          "dense, tiered, layer_prefetch or streaming_llm; dsa or msa for a model with an indexer");
  f.check(c.parallel.pipeline == 1, "speculation",
          "the stages of a pipeline would wait for the draft, which is not modelled",
          "parallel.pipeline: 1, or leave it out");
  f.check(!c.parallel.cuts_prompts(), "speculation",
          "drafts whose sequences lie on several context ranks are not modelled",
          "parallel.context: 1, or leave it out");
  f.check(c.step.overlap == Overlap::serial, "speculation",
          "the passes of a draft run one after another", "step.overlap: serial, or leave it out");
}

void check_step_speculation(Fields& f, const ScenarioConfig& c) {
  if (!c.speculation) return;
  check_speculation(f, c);
  f.check(c.step.kind == StepKind::decode, "speculation", "a prefill has nothing to verify",
          "step.kind: decode, or leave it out");
  f.check(c.step.region == Region::step, "speculation",
          "is a whole step, and step.region leaves parts of it out",
          "region: step, or leave it out");
}

void check_what_if(Fields& f, const ScenarioConfig& c) {
  const bool asks = c.what_if.far_bandwidth != 1 || c.what_if.far_latency != 1;
  f.check(!asks || c.placement.far != c.placement.near, "what_if",
          "the far tier is the near one, '" + c.placement.near + "'",
          "a placement.far of its own, or the GPU's memory itself (system.tiers)");
  const auto far = c.system.tiers.find(c.placement.far);
  if (!asks || far == c.system.tiers.end()) return;
  for (const std::string& device : at_packet_level(c.system)) {
    const bool on_the_way = std::ranges::any_of(
        far->second.path, [&](const std::string& link) { return device == "links." + link; });
    f.check(!on_the_way && device != "tiers." + c.placement.far + ".memory", "what_if",
            "asks for factors on " + device + ", which is at packet level",
            "level: flow there, or other numbers in its packet_level");
  }
}

}  // namespace tiersim
