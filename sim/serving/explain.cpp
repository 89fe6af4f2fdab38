#include "sim/serving/explain.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/serving/iteration_batch.hpp"
#include "sim/serving/pools.hpp"
#include "workloads/llm/speculative_step.hpp"

namespace tiersim {
namespace {

std::int64_t rounded(std::int64_t sum, std::int64_t count) {
  return count == 0 ? 0 : (sum + count / 2) / count;
}

double per(double sum, std::int64_t count) {
  return sum / static_cast<double>(count);
}

std::string_view name_of_product(Phase phase) {
  if (phase == Phase::mlp) return "products of the MLP";
  return phase == Phase::head ? "head" : "products of the attention";
}

// Returns the name of the resource that bounds the operation: the one that it occupies longest, or
// "launch" where launching the kernel takes longer than running it.
std::string_view cause_of(const OpPlan& plan, const System& system) {
  Duration longest = plan.min_duration;
  std::string_view cause = plan.min_reason;
  for (const auto& [channel, busy] : plan.charges) {
    const SystemChannel& at = system.channels()[channel.index()];
    const Duration time = busy * at.sharers / at.capacity;
    if (time <= longest) continue;
    longest = time;
    cause = at.name;
  }
  return longest < plan.setup ? plan.setup_reason == "latency" ? "launch" : plan.setup_reason
                              : cause;
}

// `dispatched`: the CPU's time to dispatch the passes of a draft is stated, so that their kernels
// are not launched beside it.
std::vector<IterationPart> parts_of(const StepGraph& graph, const System& system,
                                    bool dispatched = false) {
  std::vector<IterationPart> parts;
  std::vector<std::map<std::string_view, Duration>> causes;
  const OpPlans plans = system.plan(graph);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Op& op = graph.ops[i];
    if (op.kind == OpKind::host) continue;  // a wait
    const bool launched = plans[i].exclusive && !(dispatched && i < graph.drafting);
    const std::string_view name = part_of(op);
    const auto found = std::ranges::find(parts, name, &IterationPart::name);
    const auto at = static_cast<std::size_t>(found - parts.begin());
    if (found == parts.end()) {
      parts.push_back({.name = std::string(name), .bound = {}});
      causes.emplace_back();
    }
    const Duration time = plans[i].uncontended(system.channels());
    parts[at].launches += op.fused ? 0 : 1;
    parts[at].kernels += launched ? 1 : 0;
    parts[at].seconds += to_seconds(time);
    causes[at][cause_of(plans[i], system)] += time;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto most =
        std::ranges::max_element(causes[i], {}, [](const auto& cause) { return cause.second; });
    parts[i].bound = most->first;
    if (parts[i].seconds > 0) parts[i].bound_share = to_seconds(most->second) / parts[i].seconds;
  }
  return parts;
}

// Returns how long the GPU waits while the CPU drafts, or dispatches the passes of a draft, each
// beside its kernels.
Duration waits_for_drafts(const StepGraph& graph, const System& system) {
  Duration waits{};
  Duration left{};  // of the CPU's work
  for (std::size_t i = 0; i < graph.drafting; ++i) {
    const Op& op = graph.ops[i];
    const Duration time = system.plan(op).uncontended(system.channels());
    if (op.kind == OpKind::host) waits += std::max(std::exchange(left, Duration{}), Duration{});
    left += op.kind == OpKind::host ? time : -time;
  }
  return waits + std::max(left, Duration{});
}

// Returns how long the GPU waits for the CPU in an iteration [s], by the rules of
// Replica::work_of. `eager` is the share of iterations that no captured graph covers; `dispatch` is
// the wait for the dispatch of a draft's passes.
double waits_of(const ExplainedIteration& mean, const IterationWork& work, double eager,
                const ServerHostConfig& host, Duration dispatch) {
  std::int64_t kernels = 0;
  for (const IterationPart& part : mean.parts) kernels += part.kernels;
  const auto launches = [&](Duration launch) {
    return std::max(to_seconds(dispatch),
                    to_seconds(repeated(launch, kernels)) - mean.kernel_time());
  };
  const auto sequences = work.decodes + static_cast<std::int64_t>(work.chunks.size());
  return eager * launches(host.eager_launch.value) + (1 - eager) * launches(host.launch.value) +
         to_seconds(host.sync.value + repeated(host.sync_sequence.value, sequences));
}

// The transfers between the stages of a pipeline.
void add_transfers(std::vector<IterationPart>& parts, const StepGraph& one, const System& system,
                   std::int64_t count) {
  for (IterationPart part : parts_of(one, system)) {
    part.launches *= count;
    part.kernels *= count;
    part.seconds *= static_cast<double>(count);
    parts.push_back(std::move(part));
  }
}

ExplainedIteration mean_of(const IterationAverages::Sums& sums, const ServingConfig& config,
                           const System& system) {
  ExplainedIteration out;
  const std::int64_t n = sums.iterations;
  out.reads_prompts = sums.chunks > 0;
  out.iterations = n;
  out.decodes = per(static_cast<double>(sums.decodes), n);
  if (sums.decodes > 0) out.context = per(static_cast<double>(sums.positions), sums.decodes);
  out.prompt_tokens = per(static_cast<double>(sums.prompt_tokens), n);
  out.before = per(to_seconds(sums.before), n);
  out.copies = per(to_seconds(sums.copies), n);
  out.gpu = per(to_seconds(sums.gpu), n);

  IterationWork work{.decodes = rounded(sums.decodes, n),
                     .context = std::max<std::int64_t>(1, rounded(sums.positions, sums.decodes)),
                     .chunks = {},
                     .logits = std::max<std::int64_t>(1, rounded(sums.logits, n))};
  if (sums.chunks > 0) {
    const std::int64_t chunks = std::max<std::int64_t>(1, rounded(sums.chunks, n));
    const std::int64_t tokens = rounded(sums.prompt_tokens, n * chunks);
    work.chunks.assign(
        static_cast<std::size_t>(chunks),
        {std::max<std::int64_t>(1, tokens), rounded(sums.prompt_before, sums.chunks)});
  }
  if (work.decodes == 0 && work.chunks.empty()) work.decodes = 1;
  work.padding = rounded(sums.padding, n);
  AttentionContext replica = context_of(config.scenario, system);
  replica.host_works = false;
  const Method& method = *config.scenario.method.method;
  const std::int64_t stages = std::exchange(replica.parallel.pipeline, 1);
  if (config.scenario.speculation && work.decodes > 0) {
    work.drafts = rounded(sums.drafts, sums.decodes);
  }
  const StepGraph graph = build_drafted_iteration(replica, method, work, system.tier_names());
  const bool dispatched =
      config.scenario.speculation && config.scenario.speculation->draft.dispatch.has_value();
  out.parts = parts_of(graph, system, dispatched);
  if (stages > 1)
    add_transfers(
        out.parts,
        build_stage_transfer(replica, method,
                             {.decodes = work.decodes + work.padding + work.prompt_tokens()},
                             system.tier_names()),
        system, stages - 1);
  const Duration drafts = waits_for_drafts(graph, system);
  out.waits = waits_of(out, work, per(static_cast<double>(sums.eager), n), config.server.host,
                       dispatched ? drafts : Duration{});
  if (!dispatched) out.waits += to_seconds(drafts);
  return out;
}

}  // namespace

std::string_view part_of(const Op& op) {
  if (op.kind == OpKind::collective) return name(op.collective.kind);
  if (op.kind != OpKind::compute) return "copies";
  switch (op.family) {
    case KernelFamily::gemm:
    case KernelFamily::batched_gemm:
      return name_of_product(op.phase);
    case KernelFamily::elementwise:
      if (op.phase == Phase::write_back) return "append to the cache";
      return op.phase == Phase::embedding ? "embedding" : "norms, rotary, activation, sampling";
    case KernelFamily::attention:
    case KernelFamily::grouped_attention:
    case KernelFamily::gathered_attention:
    case KernelFamily::latent_attention:
      return "decode attention";
    case KernelFamily::prefill_attention:
      return "prefill attention";
    default:
      return name(op.family);
  }
}

void IterationAverages::on_work(const IterationSample& sample, const Iteration& iteration) {
  Sums& to = sums_[sample.pool][iteration.pieces.empty() ? 0 : 1];
  ++to.iterations;
  const IterationBatch batch = batch_of(iteration, false);
  const Launching launching = launching_of(config_, batch);
  to.decodes += batch.decodes;
  to.positions += batch.positions;
  to.drafts += batch.decodes * batch.drafts;
  to.logits += batch.logits;
  for (const PromptChunk& chunk : batch.chunks) {
    ++to.chunks;
    to.prompt_tokens += chunk.tokens;
    to.prompt_before += chunk.before;
  }
  to.eager += launching.graph ? 0 : 1;
  to.padding += launching.padding;
  to.before += sample.gpu - sample.begin - sample.copies;
  to.copies += sample.copies;
  to.gpu += sample.end - sample.gpu;
  next_->on_work(sample, iteration);
}

std::vector<ExplainedIteration> explain(const ServingConfig& config,
                                        const IterationAverages& averages) {
  TS_EXPECTS(!config.early_exit && !config.scenario.model.encoder);
  std::vector<ExplainedIteration> out;
  const std::vector<ServerPool> pools = pools_of(config);
  for (std::size_t p = 0; p < averages.pools().size(); ++p) {
    const System system = build_stage_system(pools[p].config.scenario);
    for (const IterationAverages::Sums& sums : averages.pools()[p]) {
      if (sums.iterations == 0) continue;
      out.push_back(mean_of(sums, pools[p].config, system));
      out.back().pool = pools[p].name;
    }
  }
  return out;
}

}  // namespace tiersim
