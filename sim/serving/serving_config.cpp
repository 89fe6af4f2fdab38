#include "sim/serving/serving_config.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"
#include "sim/serving/fleet_checks.hpp"
#include "sim/serving/pool_checks.hpp"
#include "sim/serving/pools.hpp"
#include "sim/serving/tier_checks.hpp"
#include "sim/step/packet_network.hpp"
#include "sim/step/scenario_checks.hpp"
#include "workloads/attention/layer_contexts.hpp"

namespace tiersim {

/// The settings of a step that apply to all iterations of a server; requests set batch and lengths.
struct IterationWords {
  StepConfig* step;
};
void describe(Fields& f, IterationWords& c);
void describe(Fields& f, IterationWords& c) {
  f.doc("Settings of every iteration; its batch follows from the requests.");
  describe_types(f, *c.step);
  f.optional("overlap", c.step->overlap, kOverlapNames,
             "Operations that may run at the same time.");
  f.optional("latent", c.step->latent, kLatentUnpackingNames,
             "Where latent attention unpacks keys and values.");
}

namespace {

// The length at which methods are checked, so that shares of the rows are many rows.
constexpr std::int64_t kLongContext = std::int64_t{1} << 16U;

StepConfig long_step(const ScenarioConfig& c) {
  StepConfig step = c.step;
  step.context = kLongContext;
  return step;
}

// Context ranks have the pieces of a prompt and the cached positions of a sequence in parts.
void check_served_ranks(Fields& f, const ServingConfig& config) {
  const ScenarioConfig& c = config.scenario;
  if (!c.parallel.cuts_prompts()) return;
  check_context_ranks(f, c);
  f.check(config.server.scheduler.max_batched_tokens >= c.parallel.context_pieces(),
          "server.scheduler.max_batched_tokens",
          fmt::format("{} are not {} pieces for {} context ranks",
                      config.server.scheduler.max_batched_tokens, c.parallel.context_pieces(),
                      c.parallel.context_ranks()),
          "a token or more for each piece");
  f.check(c.parallel.pipeline == 1, "parallel.context",
          "the stages of a pipeline have no context ranks in a server, as what passes between them "
          "is not modelled",
          "1, or parallel.pipeline: 1");
  f.check(!config.early_exit, "early_exit",
          "sequences that lie on several context ranks leave early on none of them alone",
          "parallel.context: 1, or leave it out");
  // A method of a model that could not be read has its own mistake.
  if (!c.method.method || !c.method.method->caches_all() || c.model.layers < 1 ||
      c.model.heads < 1 || c.model.cached_heads() < 1 || c.model.indexer || c.model.linear)
    return;
  const AttentionContext whole{
      .model = c.model, .step = long_step(c), .placement = {.near = TierId(0), .far = TierId(1)}};
  bool near = true;
  for (const LayersCached& of_type : cached_by_type(*c.method.method, whole))
    for (const CachedTensor& tensor : of_type.tensors)
      near = near && (tensor.tier == TierId(0) || tensor.positions == 0);
  f.check(
      near, "parallel.context",
      "method '" + c.method.name +
          "' keeps rows in the far tier, and pieces of a prompt on context ranks find theirs in "
          "the near one",
      "1, or {name: dense, kv_tier: near}");
}

void check_iteration(Fields& f, const ScenarioConfig& c) {
  check_method(f, c, long_step(c));
  check_latent(f, c);
  check_types_and_experts(f, c);
  check_states(f, c);
  f.check(c.step.overlap != Overlap::micro_batches, "step.overlap",
          "a server has no two micro-batches: its batch changes with every iteration",
          "serial or prefetch_screening");
  f.check(c.step.overlap != Overlap::prefetch_screening || !c.method.method ||
              c.method.method->screens(),
          "step.overlap", "method '" + c.method.name + "' has no screening to prefetch",
          "serial, which works with every method");
  if (c.parallel.pipeline > 1) check_fabric(f, c, Fabric::pipeline, "parallel.pipeline");
  // A step of 0 means that the CPU is not modelled.
  f.check(!c.system.host || c.system.host->step.value == Duration{}, "system.host",
          "is of a single step; the CPU of a server is server.host",
          "leave it out, or system.host.step: 0 ns, and give server.host.iteration");
}

/// The fewest positions whose keys a method keeps of those that the layers of one type attend to.
struct KeptPositions {
  std::int64_t of = kLongContext;
  std::int64_t kept = kLongContext;
};

// Counts the positions that are kept of a prompt of kLongContext. Where the configuration could not
// be read in full, all count as kept, so that no second mistake is reported.
KeptPositions kept(const ScenarioConfig& c) {
  if (!c.method.method || c.model.compression || c.model.layers < 1 || c.model.heads < 1 ||
      c.model.cached_heads() < 1)
    return {};
  const StepConfig step = long_step(c);
  const AttentionContext whole{
      .model = c.model, .step = step, .placement = {.near = TierId(0), .far = TierId(1)}};
  const LayerContexts contexts(whole);
  for (const AttentionContext* of_type : contexts.all()) {
    if (!c.method.method->problems(of_type->model, step).empty()) return {};
    std::int64_t sum = 0;  // of near and far ones, which are different positions
    for (const CachedTensor& tensor : c.method.method->cached(*of_type))
      if (tensor.tensor_class == TensorClass::keys) sum += tensor.positions;
    const std::int64_t attended = of_type->model.attended(kLongContext);
    if (sum < attended) return {attended, sum};
  }
  return {};
}

void check_prefix_cache(Fields& f, const ServingConfig& c) {
  if (!c.server.prefix_cache) return;
  check_lower_tiers(f, c);
  // A workload that could not be read has its own mistake.
  f.check(c.workload.trace || c.workload.sessions || !c.workload.says_requests(),
          "server.prefix_cache",
          "keeps what nobody asks for again: the prompts of this workload share nothing",
          "leave it out, or workload.sessions, or a workload.trace that names the blocks of its "
          "prompts");
  f.check(c.workload.prefix_block % c.server.kv.block == 0, "server.kv.block",
          fmt::format("{} positions do not divide a prefix block of {} tokens", c.server.kv.block,
                      c.workload.prefix_block),
          "a divisor of it, such as 16");
  f.check(!c.scenario.model.encoder, "server.prefix_cache",
          "model '" + c.scenario.model.name + "' has an encoder, which reads a prompt both ways",
          "leave it out: no part of its output is another prompt's");
  f.check(!c.scenario.model.compression, "server.prefix_cache",
          "model '" + c.scenario.model.name +
              "' has states of its windows and compressors, which are not kept for other prompts",
          "leave it out");
  f.check(!c.scenario.parallel.sequences_are_spread(), "server.prefix_cache",
          "each GPU of a replica would have one of its own, and which has a prompt is not modelled",
          "leave it out, or parallel.attention: tensor");
  f.check(c.scenario.model.linear || !c.server.prefix_cache->states, "server.prefix_cache.states",
          "has no meaning: model '" + c.scenario.model.name + "' has no linear attention",
          "leave it out");
  const KeptPositions positions = kept(c.scenario);
  f.check(positions.kept >= positions.of, "server.prefix_cache",
          fmt::format("of {} positions {} are kept, so the start of a prompt is gone for others",
                      positions.of, positions.kept),
          "leave it out, or a method that drops nothing");
}

// The caches that can be handed over; mistakes are reported at `key`.
void check_handed_over(Fields& f, const ServingConfig& c, const std::string& key) {
  f.check(!c.server.prefix_cache || !c.server.prefix_cache->tool_calls,
          "server.prefix_cache.tool_calls",
          "which of the replicas keeps a session's blocks is not modelled where some read prompts "
          "and others answer",
          "leave it out, or " + key);
  f.check(!c.scenario.model.compression, key,
          "model '" + c.scenario.model.name +
              "' has compressed rows and the states of their compressors, whose transfer is not "
              "modelled",
          "leave it out");
  f.check(!c.scenario.model.encoder, key,
          "model '" + c.scenario.model.name + "' has an encoder, and no prompt to hand over",
          "leave it out");
}

void check_replicas(Fields& f, const ServingConfig& c) {
  const std::int64_t count = replicas(c.scenario);
  f.check(c.server.host.workers <= count, "server.host.workers",
          fmt::format("is more than the {} of the system can use",
                      count == 1 ? "one replica" : fmt::format("{} replicas", count)),
          "at most one for each, or 0");
  if (!c.server.disaggregation) return;
  check_fabric(f, c.scenario, Fabric::transfer, "server.disaggregation");
  f.check(c.server.disaggregation->prefill_replicas < count,
          "server.disaggregation.prefill_replicas",
          fmt::format("of {} leaves none to decode",
                      count == 1 ? "one replica" : fmt::format("{} replicas", count)),
          "fewer, or more GPUs (system.gpus.count)");
  check_handed_over(f, c, "server.disaggregation");
}

void check_sessions(Fields& f, const ServingConfig& c) {
  f.check(c.server.routing != Routing::session || session_count(c.workload) > 0 ||
              !c.workload.says_requests(),
          "server.routing", "has no effect: the workload has no sessions",
          "another routing, or workload.sessions, or a trace with sessions");
  f.check(session_count(c.workload) > 0 || !c.measure.slo_session || !c.workload.says_requests(),
          "measure.slo_session", "has no effect: the workload has no sessions",
          "leave it out, or give workload.sessions, or a trace with sessions");
  const bool by_priority = c.server.scheduler.order == QueueOrder::priority;
  const bool has_priorities = c.workload.sessions && !c.workload.sessions->priorities.empty();
  f.check(by_priority || !has_priorities, "workload.sessions.priorities",
          "have no effect: the server takes the first that comes",
          "leave them out, or server.scheduler.order: priority");
  f.check(has_priorities || !by_priority, "server.scheduler.order",
          "has no effect: no request has a priority", "fcfs, or give workload.sessions.priorities");
  f.check(!by_priority || c.server.scheduler.policy != SchedulerPolicy::static_batch,
          "server.scheduler.order", "of a static batch is that of arrival",
          "fcfs, or another server.scheduler.policy");
}

void check_server(Fields& f, const ServingConfig& c) {
  for (const std::string& device : at_packet_level(c.scenario.system))
    f.check(false, "system." + device + ".level",
            "an iteration of a server is one flow, and has no packets", "flow or analytic");
  check_replicas(f, c);
  check_prefix_cache(f, c);
  const SchedulerPolicy policy = c.server.scheduler.policy;
  const bool beside = policy == SchedulerPolicy::chunked || policy == SchedulerPolicy::mixed;
  f.check(!beside || !c.scenario.model.encoder, "server.scheduler.policy",
          "model '" + c.scenario.model.name + "' has an encoder, which reads its input whole",
          "prefill_first, decode_first or static");
  f.check(policy != SchedulerPolicy::static_batch || c.scenario.parallel.pipeline == 1,
          "parallel.pipeline",
          "a static batch ends before the next begins, so all stages but one are idle",
          "1, or another server.scheduler.policy");
  const bool swaps = c.server.kv.preemption == Preemption::swap;
  f.check(!swaps || c.scenario.placement.far != c.scenario.placement.near, "server.kv.preemption",
          "there is nowhere to swap to: the far tier is the near one, '" +
              c.scenario.placement.near + "'",
          "a placement.far of its own, or recompute");
  if (swaps && c.server.kv.swap_space)
    check_room(f, c.scenario, c.scenario.placement.far, *c.server.kv.swap_space,
               "server.kv.swap_space");
}

// CPUs attend in decode steps only. A later chunk of a prompt would have to copy the rows of
// earlier chunks to the GPU, where no room is set aside for them.
void check_cpu_attention(Fields& f, const ServingConfig& c) {
  const Method* const method = c.scenario.method.method.get();
  if (method == nullptr || !method->attends_on_cpu()) return;
  const SchedulerPolicy policy = c.server.scheduler.policy;
  f.check(policy != SchedulerPolicy::chunked && policy != SchedulerPolicy::mixed,
          "method.attend_on", "needs prompts that are read whole",
          "server.scheduler.policy: static, prefill_first or decode_first");
  f.check(!c.server.prefix_cache, "method.attend_on", "needs prompts that are read whole",
          "leave out server.prefix_cache");
}

void check_early_exit(Fields& f, const ServingConfig& c) {
  if (!c.early_exit) return;
  f.check(!c.scenario.placement.weights || !c.scenario.placement.weights->any(), "early_exit",
          "would copy weights of layers that a token leaves out, which is not modelled",
          "leave out one of early_exit and placement.weights");
  f.check(c.scenario.step.overlap == Overlap::serial, "step.overlap",
          "whether the next layer runs is known after this one, so nothing of it can begin before",
          "serial, or leave early_exit out");
  f.check(!c.scenario.model.moe || c.scenario.model.moe->removed, "early_exit",
          "model '" + c.scenario.model.name +
              "' has experts, and which of them the rows that stay choose is not modelled",
          "a model without, or leave it out");
  f.check(!c.scenario.model.mixes_types(), "early_exit",
          "model '" + c.scenario.model.name +
              "' has layers that attend in different ways, and what skipped ones cache is not "
              "modelled",
          "a model whose layers are alike, or leave it out");
  f.check(
      c.scenario.parallel.pipeline == 1, "early_exit",
      "the stages of a pipeline have their layers, and which of them a token skips is not modelled",
      "parallel.pipeline: 1, or leave it out");
  f.check(c.early_exit->technique != ExitTechnique::softmax ||
              !c.scenario.parallel.sequences_are_spread(),
          "early_exit.technique",
          "of softmax is not modelled where GPUs have sequences of their own, as their rows would "
          "be gathered for the head after every layer",
          "another technique, or parallel.attention: tensor");
  for (const ExitProblem& problem : exit_problems(*c.early_exit, c.scenario.model.layers))
    f.check(false, "early_exit." + problem.path, problem.message, problem.hint);
}

void check_served_speculation(Fields& f, const ServingConfig& c) {
  if (!c.scenario.speculation) return;
  check_speculation(f, c.scenario);
  f.check(!c.early_exit, "speculation", "cannot stand beside early_exit",
          "draft: {kind: early_exit, layer: ...} verifies what early layers propose");
  f.check(c.server.scheduler.policy != SchedulerPolicy::static_batch, "server.scheduler.policy",
          "a static batch with sequences that advance unevenly is not modelled",
          "another policy, or leave speculation out");
}

// GPUs with the MLPs serve one scheduler, so that all GPUs that attend are one replica.
void check_served_ffn(Fields& f, const ServingConfig& c) {
  if (!c.scenario.ffn) return;
  check_ffn(f, c.scenario);
  const std::int64_t gpus = c.scenario.system.gpus.count;
  f.check(c.scenario.parallel.devices() == gpus, "parallel.tensor",
          fmt::format("is a group of {} of the {} GPUs that attend, and in a server all of them "
                      "share the GPUs of ffn as one replica",
                      c.scenario.parallel.devices(), gpus),
          fmt::format("{{tensor: {}, attention: data}}, with attention_tensor for groups", gpus));
  const auto alone = [&](bool holds, const std::string& key) {
    f.check(holds, key, "is not modelled beside ffn", "leave out one of both");
  };
  alone(!c.early_exit, "early_exit");
  alone(!c.server.scaling, "server.scaling");
  alone(!c.server.stragglers, "server.stragglers");
  alone(!c.server.expert_rebalance, "server.expert_rebalance");
}

// The rules of replicas on one kind of hardware.
void check_pool(Fields& f, const ServingConfig& c) {
  check_placement(f, c.scenario);
  check_replica(f, c.scenario);
  check_what_if(f, c.scenario);
  check_iteration(f, c.scenario);
  check_served_ranks(f, c);
  check_server(f, c);
  check_cpu_attention(f, c);
  check_early_exit(f, c);
  check_served_speculation(f, c);
  check_served_ffn(f, c);
}

void check_prefill(Fields& f, const ServingConfig& c) {
  f.check(!c.server.disaggregation, "prefill", "stands beside server.disaggregation",
          "leave out server.disaggregation, whose replicas are of the one system");
  check_fabric(f, c.scenario, Fabric::transfer, "prefill");
  check_fabric(f, prefill_scenario(c), Fabric::transfer, "prefill.system");
  check_handed_over(f, c, "prefill");
  f.check(c.server.scheduler.policy != SchedulerPolicy::static_batch, "prefill",
          "a static batch is read and answered by the same replica",
          "leave it out, or another server.scheduler.policy");
  const SchedulerConfig& scheduler = c.server.scheduler;
  const auto& [system, parallel, sequences, tokens] = *c.prefill;
  f.check(scheduler.policy != SchedulerPolicy::chunked || !tokens ||
              *tokens >= sequences.value_or(scheduler.max_sequences),
          "prefill.max_batched_tokens", "is below the sequences that may run there",
          "at least max_sequences, and more for prompts");
}

}  // namespace

void describe(Fields& f, MeasureConfig& c) {
  f.doc("Requests that are counted, and the service level that they are held to.");
  f.optional("as", c.as, kMeasuredAsNames,
             "Benchmark whose definitions of the metrics apply: which requests count, what a gap "
             "between tokens is, where quantiles lie.");
  f.optional(
      "warm_up", c.warm_up,
      "Share of the requests, in the order of arrival, that no metric counts; by default 0.1, "
      "and 0 for benchmarks, which count all.",
      in_range(0.0, 0.9));
  f.check(c.as == MeasuredAs::steady_state || c.uncounted() == 0, "warm_up",
          fmt::format("is {}, and {} counts every request of a run", c.uncounted(),
                      kMeasuredAsNames[static_cast<std::size_t>(c.as)]),
          "0, or as: steady_state");
  f.optional("slo_ttft", c.slo_ttft, "A request whose first token takes longer is no goodput.",
             positive());
  f.optional("slo_tpot", c.slo_tpot,
             "The same for its mean time between tokens after the first one.", positive());
  f.optional("slo_session", c.slo_session,
             "A session whose requests are at the server for longer in all, without the pauses "
             "between them, is no goodput; nor is one that the user leaves.",
             positive());
}

void describe(Fields& f, ServedDrawsConfig& c) {
  f.doc("How 95 % intervals of numbers (ci95) are carried through the run: by drawing them.");
  f.optional("draws", c.draws, "Runs with drawn numbers, each as long as the run itself.",
             in_range(20, 10'000));
  f.optional("seed", c.seed, "Of the draws.", at_least(0));
}

void describe(Fields& f, PrefillPoolConfig& c) {
  f.doc("The replicas that read prompts, on a system of their own: as many as its GPUs make up.");
  f.document("system", c.system, "system", "The hardware that reads prompts.");
  f.optional("parallel", c.parallel,
             "How the GPUs of such a replica share the model; each is a replica by default.");
  f.optional("max_sequences", c.max_sequences,
             "Running at the same time on such a replica; by default as server.scheduler has it.",
             in_range(1, 1'000'000));
  f.optional("max_batched_tokens", c.max_batched_tokens,
             "New tokens of an iteration there; by default as server.scheduler has it.",
             in_range(1, 100'000'000));
}

void describe(Fields& f, ServingConfig& c) {
  ScenarioConfig& s = c.scenario;
  f.doc("Requests over time on a server of one model with one KV method on one system.");
  f.required("name", s.name, "Name of the run, for reports.");
  f.optional("description", s.description, "Purpose, for readers.");
  f.document("system", s.system, "system", "The hardware.");
  f.document("model", s.model, "model", "The transformer.");
  types_from(s.model, s.step);
  IterationWords words{&s.step};
  f.optional("step", words, "Settings of every iteration.");
  f.required("method", s.method, "The KV method.");
  f.required("placement", s.placement, "Tiers by role.");
  f.optional("parallel", s.parallel,
             "How the GPUs of a replica share the model; each is a replica by default.");
  f.optional("prefill", c.prefill,
             "The system that reads prompts, where it is not the one that answers; by default one "
             "does both.");
  f.optional("ffn", s.ffn,
             "GPUs of their own for MLPs and experts of the replicas that answer (AFD); those that "
             "attend have them by default.");
  f.optional_document("attention_kernel", s.attention_kernel, "kernel",
                      "Work of the decode attention kernel beyond that of the method.");
  f.optional_document("execution", s.execution, "execution",
                      "Kernels of the engine besides products, attention and collectives; by "
                      "default all are fused into these, and free.");
  f.optional("what_if", s.what_if, "Factors on the hardware, for questions.");
  f.required("workload", c.workload, "The requests.");
  f.document("server", c.server, "server", "The server that processes the requests.");
  f.optional_document("speculation", s.speculation, "speculation",
                      "Drafted tokens that an iteration verifies; none by default.");
  f.optional("early_exit", c.early_exit, "Tokens that leave the decoder before its last layer.");
  f.optional("measure", c.measure, "Requests that are counted, and their service level.");
  f.optional("uncertainty", c.uncertainty,
             "Intervals of the numbers carried into the metrics; none where it is left out.");
  f.optional("seed", c.seed, "Of arrivals, lengths, exit depths and accepted drafts.", at_least(0));

  if (c.prefill) {
    check_prefill(f, c);
    PoolChecks checks(f);
    const std::vector<ServerPool> pools = pools_of(c);
    for (auto pool = pools.rbegin(); pool != pools.rend(); ++pool) {  // prefill is the last
      checks.set_prefill(!pool->name.empty());
      check_pool(checks, pool->config);
    }
  } else {
    check_pool(f, c);
  }
  check_fleet(f, c);
  check_sessions(f, c);
}

Duration ServingConfig::frontend_time(std::int64_t input_tokens) const {
  if (measure.as == MeasuredAs::trtllm_bench) return {};
  return server.host.request.value + repeated(server.host.prompt_token.value, input_tokens);
}

}  // namespace tiersim
