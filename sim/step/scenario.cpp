#include "sim/step/scenario.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/step/accounting.hpp"
#include "sim/step/host_tiers.hpp"
#include "sim/step/scenario_checks.hpp"
#include "workloads/attention/layer_contexts.hpp"
#include "workloads/llm/ffn_share.hpp"
#include "workloads/llm/shard.hpp"
#include "workloads/llm/step_builder.hpp"

namespace tiersim {
namespace {

// Footprint without operations, as capacity searches need it.
StepGraph tensors_only(AttentionContext context, const ScenarioConfig& config, const System& system,
                       std::int64_t batch) {
  context.step.batch = batch;
  return build_step_tensors(context, *config.method.method, system.tier_names());
}

void check_parallel(Fields& f, const ScenarioConfig& c) {
  check_replica(f, c);
  check_context(f, c);
  if (c.parallel.pipeline > 1) {
    check_fabric(f, c, Fabric::pipeline, "parallel.pipeline");
    f.check(c.step.overlap != Overlap::micro_batches, "step.overlap",
            "the stages of a pipeline have micro-batches already", "serial");
  }
  if (!c.handover) return;
  f.check(c.step.kind == StepKind::prefill, "handover", "a decode step hands nothing over",
          "step.kind: prefill, or leave it out");
  check_fabric(f, c, Fabric::transfer, "handover");
  f.check(!c.model.compression, "handover",
          "model '" + c.model.name +
              "' has compressed rows and the states of their compressors, whose transfer is not "
              "modelled",
          "leave it out");
  for (const ShardProblem& problem : shard_problems(c.model, c.handover->to))
    f.check(false, "handover.to." + problem.key, problem.message, problem.hint);
  f.check(!c.handover->to.cuts_prompts(), "handover.to.context",
          "which part of the cache each of several context ranks receives is not modelled",
          "leave it out");
}

void check_step(Fields& f, const ScenarioConfig& c) {
  if (!c.method.method) return;
  check_method(f, c, c.step);
  if (c.step.overlap == Overlap::prefetch_screening) {
    f.check(c.method.method->screens(), "step.overlap",
            "method '" + c.method.name + "' has no screening to prefetch",
            "serial and micro_batches work with every method");
    f.check(c.step.kind == StepKind::decode, "step.overlap",
            "a prefill has no screening to prefetch",
            "serial and micro_batches work with a prefill");
  }
  f.check(c.step.overlap != Overlap::micro_batches || c.step.batch > 1, "step.overlap",
          "a batch of 1 has no two micro-batches", "a batch of 2 or more, or serial");
  f.check(c.step.overlap != Overlap::micro_batches || c.step.batch == 1 ||
              !c.parallel.sequences_are_spread() || c.step.batch > c.parallel.sequence_groups(),
          "step.overlap", "each GPU has one sequence, and no two micro-batches",
          fmt::format("a batch above {}, or serial", c.parallel.sequence_groups()));
  if (c.model.encoder) {
    f.check(c.step.encoder_context > 0, "step.encoder_context",
            "is missing: model '" + c.model.name + "' has an encoder",
            "the positions of its input, such as 512");
  } else {
    f.check(c.step.encoder_context == 0, "step.encoder_context",
            "has no meaning: model '" + c.model.name + "' has no encoder", "leave it out");
  }
}

}  // namespace

void describe(Fields& f, MethodConfig& c) {
  f.doc("A KV method: where keys and values live and what a step reads of them.");
  const auto library = make_method_library();
  std::vector<Alternative> names;
  for (const auto& [name, kind] : library.entries()) names.push_back({name, kind.help});
  f.select("name", c.name, names, [&](const std::string& name, Fields& fields) {
    if (!c.method || c.name != name) c.method = library.find(name)->make();
    c.name = name;
    c.method->describe(fields);
  });
}

void describe(Fields& f, PlacementConfig& c) {
  f.doc("Which tiers of the system the method's near and far tensors go to.");
  f.required("near", c.near, "Tier of weights, activations and staging.");
  f.required("far", c.far, "Tier that the KV cache is offloaded to.");
  f.optional("near_share", c.near_share,
             "Share of the near tier that the step may fill; also of that of `ffn`.",
             in_range(0.01, 1.0));
  f.optional("weights", c.weights, "Weights that lie in far tiers; none by default.");
}

void describe(Fields& f, WhatIfConfig& c) {
  f.doc("Factors on the hardware as configured, to ask what it would take.");
  f.optional("far_bandwidth", c.far_bandwidth,
             "On every capacity on the path to the far tier, request engines and what they keep in "
             "flight included.",
             in_range(0.001, 1000.0));
  f.optional("far_latency", c.far_latency, "On the latency of every device on the path.",
             in_range(0.0, 1000.0));
}

void describe(Fields& f, UncertaintyConfig& c) {
  f.doc("How 95 % intervals of numbers (ci95) are carried through the run: by drawing them.");
  f.optional("draws", c.draws, "Runs with drawn numbers; twice as many take twice as long.",
             in_range(20, 100'000));
  f.optional("seed", c.seed, "Of the draws.", at_least(0));
}

void describe(Fields& f, ScenarioConfig& c) {
  f.doc("One step of one model with one KV method on one system.");
  f.required("name", c.name, "Name of the scenario, for reports.");
  f.optional("description", c.description, "Purpose, for readers.");
  f.document("system", c.system, "system", "The hardware.");
  f.document("model", c.model, "model", "The transformer.");
  types_from(c.model, c.step);
  f.required("step", c.step, "The step.");
  f.required("method", c.method, "The KV method.");
  f.required("placement", c.placement, "Tiers by role.");
  f.optional("parallel", c.parallel, "How GPUs share the model; each has all of it by default.");
  f.optional_document("attention_kernel", c.attention_kernel, "kernel",
                      "Work of the decode attention kernel beyond that of the method.");
  f.optional_document("execution", c.execution, "execution",
                      "Kernels of the engine besides products, attention and collectives; by "
                      "default all are fused into these, and free.");
  f.optional("handover", c.handover, "Where the cache of a prefill goes.");
  f.optional(
      "ffn", c.ffn,
      "GPUs of their own for MLPs and experts (AFD); those that attend have them by default.");
  f.optional_document("speculation", c.speculation, "speculation",
                      "Drafted tokens that a decode step verifies; none by default.");
  f.optional("what_if", c.what_if, "Factors on the hardware, for questions.");
  f.optional("uncertainty", c.uncertainty,
             "Where a number has a 95 % interval; 180 draws where it is left out.");

  check_placement(f, c);
  check_step(f, c);
  check_parallel(f, c);
  check_cached(f, c);
  check_latent(f, c);
  check_types_and_experts(f, c);
  check_states(f, c);
  check_what_if(f, c);
  check_step_speculation(f, c);
  check_ffn(f, c);
  check_ffn_batch(f, c);
}

AttentionContext context_of(const ScenarioConfig& config, const System& system) {
  const bool speculates = config.speculation && config.speculation->most_tokens() > 0;
  AttentionContext out{
      .model = config.model,
      .step = config.step,
      .placement = {system.tier(config.placement.near), system.tier(config.placement.far),
                    config.placement.weights.value_or(FarWeights{})},
      .parallel = config.parallel,
      .kernel = config.attention_kernel,
      .execution = config.execution,
      .handover = config.handover,
      .host_works = config.system.host.has_value(),
      .speculation = speculates ? &*config.speculation : nullptr,
      .drafts = speculates ? config.speculation->most_tokens() : 0};
  for (const auto& [tier, part] : out.placement.weights.tiers)
    out.placement.weight_tiers.emplace_back(system.tier(tier), part);
  if (config.method.method->attends_on_cpu())
    if (const auto host = host_memory(config.system, config.placement.far))
      out.placement.host = system.tier(*host);
  if (config.ffn) {
    const std::string near = config.ffn->near.value_or(config.placement.near);
    out.ffn = std::make_shared<const FfnShare>(
        FfnShare{.model = config.model,
                 .parallel = config.ffn->parallel(),
                 .groups = replicas(config),
                 .micro_batches = config.ffn->micro_batches,
                 .near = system.tier(std::string(kFfnPrefix) + near)});
    out.model = attention_part(config.model);
  }
  if (out.model.indexer && out.model.mla)
    out.step.latent = LatentUnpacking::absorbed;  // in a prefill too
  return out;
}

double tokens_of_step(const ScenarioConfig& config) {
  if (!config.speculation || config.step.kind != StepKind::decode) return 1;
  const SpeculationConfig& speculation = *config.speculation;
  return speculation.law().mean_tokens(speculation.tokens_at(config.step.batch));
}

std::int64_t replicas(const ScenarioConfig& config) {
  return config.system.gpus.count / config.parallel.devices();
}

namespace {

System system_of(const ScenarioConfig& config, std::int64_t gpus,
                 std::shared_ptr<const ComputeUnit> gpu = nullptr) {
  System system(config.system,
                {.tier = config.placement.far,
                 .bandwidth = config.what_if.far_bandwidth,
                 .latency = config.what_if.far_latency},
                {.tier = config.placement.near, .share = config.placement.near_share}, gpus,
                std::move(gpu));
  if (const auto& earlier = config.execution.dependent_launch)
    system.set_dependent_launch(earlier->value);
  if (config.ffn) {
    const std::string near = config.ffn->near.value_or(config.placement.near);
    auto ffn =
        std::make_shared<System>(config.ffn->system, PathScaling{},
                                 TierShare{.tier = near, .share = config.placement.near_share});
    if (const auto& earlier = config.execution.dependent_launch)
      ffn->set_dependent_launch(earlier->value);
    system.join(std::move(ffn));
  }
  return system;
}

}  // namespace

RoleConfig config_of(const ScenarioConfig& config, GpuRole role) {
  if (role == GpuRole::main) return {config.system, ""};
  TS_EXPECTS(config.ffn.has_value());
  return {config.ffn->system, kFfnPrefix};
}

std::span<const GpuRole> roles_of(const ScenarioConfig& config) {
  static constexpr std::array kRoles{GpuRole::main, GpuRole::ffn};
  return std::span(kRoles).first(config.ffn ? 2 : 1);
}

System build_system(const ScenarioConfig& config, std::shared_ptr<const ComputeUnit> gpu) {
  return system_of(config, config.system.gpus.count, std::move(gpu));
}

System build_stage_system(const ScenarioConfig& config) {
  return system_of(config, config.parallel.stage_devices());
}

StepGraph build_graph(const ScenarioConfig& config, const System& system, std::vector<Op> room,
                      bool speculates) {
  AttentionContext context = context_of(config, system);
  if (!speculates) {
    context.speculation = nullptr;
    context.drafts = 0;
  }
  return build_step(context, *config.method.method, system.tier_names(), std::move(room));
}

std::int64_t kept_positions(const ScenarioConfig& config, const System& system) {
  std::int64_t most = 0;  // of any type of layer
  for (const LayersCached& of_type :
       cached_by_type(*config.method.method, context_of(config, system))) {
    std::int64_t sum = 0;  // over near and far ones, which are different positions
    for (const CachedTensor& tensor : of_type.tensors)
      if (tensor.tensor_class == TensorClass::keys) sum += tensor.positions;
    most = std::max(most, sum);
  }
  return most;
}

namespace {

// Bytes of each tier for a batch; nothing where they cannot be counted.
std::vector<std::int64_t> tier_bytes(const AttentionContext& context, const ScenarioConfig& config,
                                     const System& system, std::int64_t batch) {
  std::vector<std::int64_t> out;
  try {
    for (const ClassBytes& tier : footprint_of(tensors_only(context, config, system, batch)))
      out.push_back(total(tier).in_base());
  } catch (const UnitOverflow&) {
    out.clear();
  }
  return out;
}

// The largest batch, 1 to `most`, if the bytes of a tier grew by the same number for each sequence.
std::int64_t linear_batch(const AttentionContext& context, const ScenarioConfig& config,
                          const System& system, std::int64_t most) {
  constexpr std::int64_t kFar = 1024;
  const auto one = tier_bytes(context, config, system, 1);
  const auto far = tier_bytes(context, config, system, kFar);
  double batch = static_cast<double>(most);
  for (std::size_t t = 0; t < std::min(one.size(), far.size()); ++t) {
    const TierId tier(t);
    const auto room = static_cast<double>(system.capacity(tier).in_base()) /
                      static_cast<double>(system.sharers(system.device(tier)));
    const auto each = static_cast<double>(far[t] - one[t]) / static_cast<double>(kFar - 1);
    if (each > 0) batch = std::min(batch, 1 + (room - static_cast<double>(one[t])) / each);
  }
  return std::clamp(static_cast<std::int64_t>(std::max(batch, 1.0)), std::int64_t{1}, most);
}

}  // namespace

std::int64_t largest_batch(const ScenarioConfig& config, const System& system) {
  const AttentionContext context = context_of(config, system);
  const auto fits = [&](std::int64_t batch) {
    try {
      return overflows(tensors_only(context, config, system, batch), system).empty();
    } catch (const UnitOverflow&) {
      return false;  // a count out of range exceeds every tier
    }
  };
  if (!fits(1)) return 0;
  constexpr std::int64_t kLimit = 1'000'000;  // upper end of StepConfig's range
  std::int64_t low = 1;                       // fits
  std::int64_t high = kLimit + 1;
  // Tensors grow with the batch almost linearly, so the answer is next to a linear estimate.
  const std::int64_t near = linear_batch(context, config, system, kLimit);
  for (const std::int64_t batch : {near, near + 1, near - 1})
    if (low < batch && batch < high) (fits(batch) ? low : high) = batch;
  for (std::int64_t step = 2; high > kLimit && low + step <= kLimit; step *= 2)
    if (!fits(low + step))
      high = low + step;
    else
      low += step;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace tiersim
