#include "workloads/llm/speculative_step.hpp"

#include <algorithm>

namespace tiersim {

namespace {

// The operation with this index also waits for another one, if there is one.
void wait_for(StepGraph& graph, std::size_t op, OpId other) {
  if (other.valid() && op < graph.ops.size()) graph.ops[op].after.push_back(other);
}

}  // namespace

std::int64_t drafts_of_step(const AttentionContext& replica) {
  if (replica.speculation == nullptr || replica.step.kind != StepKind::decode) return 0;
  return replica.speculation->tokens_at(replica.step.batch);
}

std::vector<IterationWork> draft_works(const SpeculationConfig& speculation,
                                       const IterationWork& work) {
  std::vector<IterationWork> out;
  for (const DraftPass& pass : draft_passes(speculation, work.drafts)) {
    const std::int64_t positions = std::min(pass.positions, work.context + pass.ahead);
    IterationWork of{.decodes = work.decodes,
                     .context = work.context + pass.ahead - (positions - 1),
                     .padding = work.padding,
                     .chunks = {},
                     .logits = work.decodes * pass.logits,
                     .drafts = positions - 1,
                     .mask = pass.mask};
    if (pass.reads_prompts) of.chunks = work.chunks;
    if (of.decodes > 0 || !of.chunks.empty()) out.push_back(std::move(of));
  }
  return out;
}

Drafted add_drafting(StepGraph& graph, const AttentionContext& replica, const Method& method,
                     const IterationWork& work, OpId after) {
  const DraftConfig& draft = replica.speculation->draft;
  if (draft.is(DraftKind::ngram)) {
    const Duration time = repeated(draft.host.value, work.drafts > 0 ? work.decodes : 0);
    if (time == Duration{}) return {after, OpId()};
    return {graph.add({.kind = OpKind::host,
                       .phase = Phase::host,
                       .flops = {},
                       .host_time = time,
                       .after = {after}}),
            OpId()};
  }
  const AttentionContext context = draft_context(replica);
  OpId dispatched;
  for (const IterationWork& pass : draft_works(*replica.speculation, work)) {
    const OpId before = after;
    const OpId waits_for = dispatched;
    if (draft.dispatch) {
      Op cpu{.kind = OpKind::host,
             .phase = Phase::host,
             .flops = {},
             .host_time = draft.dispatch->value};
      for (const OpId op : {before, waits_for})
        if (op.valid()) cpu.after.push_back(op);
      dispatched = graph.add(std::move(cpu));
    }
    const std::size_t first = graph.ops.size();
    after = add_iteration(graph, context, method, pass, before);
    wait_for(graph, first, waits_for);
  }
  return {after, dispatched};
}

void add_speculative_step(StepGraph& graph, const AttentionContext& replica, const Method& method,
                          std::int64_t drafts) {
  const StepConfig& step = replica.step;
  const IterationWork work{.decodes = step.batch,
                           .context = step.context,
                           .logits = step.batch * (1 + drafts),
                           .drafts = drafts};
  const Drafted drafted = add_drafting(graph, replica, method, work, OpId());
  graph.drafting = graph.ops.size();
  add_iteration(graph, replica, method, work, drafted.last);
  wait_for(graph, graph.drafting, drafted.dispatched);
}

StepGraph build_drafted_iteration(const AttentionContext& replica, const Method& method,
                                  const IterationWork& work, std::vector<std::string> tier_names) {
  if (replica.ffn) return build_iteration(replica, method, work, std::move(tier_names));
  StepGraph graph{.tier_names = std::move(tier_names)};
  Drafted drafted;
  if (replica.speculation != nullptr) {
    drafted = add_drafting(graph, replica, method, work, OpId());
    graph.drafting = graph.ops.size();
  }
  add_iteration(graph, replica, method, work, drafted.last);
  wait_for(graph, graph.drafting, drafted.dispatched);
  return graph;
}

}  // namespace tiersim
