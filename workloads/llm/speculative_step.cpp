#include "workloads/llm/speculative_step.hpp"

#include <algorithm>

namespace tiersim {

std::int64_t drafts_of_step(const AttentionContext& replica) {
  if (replica.speculation == nullptr || replica.step.kind != StepKind::decode) return 0;
  return replica.speculation->tokens_at(replica.step.batch);
}

std::vector<IterationWork> draft_works(const DraftConfig& draft, const IterationWork& work) {
  std::vector<IterationWork> out;
  for (const DraftPass& pass : draft_passes(draft, work.drafts)) {
    const std::int64_t positions = std::min(pass.positions, work.context);
    IterationWork of{.decodes = work.decodes,
                     .context = work.context + pass.ahead - (positions - 1),
                     .padding = work.padding,
                     .chunks = {},
                     .logits = work.decodes,
                     .drafts = positions - 1};
    if (pass.reads_prompts) of.chunks = work.chunks;
    if (of.decodes > 0 || !of.chunks.empty()) out.push_back(std::move(of));
  }
  return out;
}

OpId add_drafting(StepGraph& graph, const AttentionContext& replica, const Method& method,
                  const IterationWork& work, OpId after) {
  const DraftConfig& draft = replica.speculation->draft;
  if (draft.is(DraftKind::ngram)) {
    const Duration time = repeated(draft.host.value, work.drafts > 0 ? work.decodes : 0);
    if (time == Duration{}) return after;
    return graph.add({.kind = OpKind::host,
                      .phase = Phase::host,
                      .flops = {},
                      .host_time = time,
                      .after = {after}});
  }
  const AttentionContext context = draft_context(replica);
  for (const IterationWork& pass : draft_works(draft, work))
    after = add_iteration(graph, context, method, pass, after);
  return after;
}

void add_speculative_step(StepGraph& graph, const AttentionContext& replica, const Method& method,
                          std::int64_t drafts) {
  const StepConfig& step = replica.step;
  const IterationWork work{.decodes = step.batch,
                           .context = step.context,
                           .logits = step.batch * (1 + drafts),
                           .drafts = drafts};
  const OpId drafted = add_drafting(graph, replica, method, work, OpId());
  graph.drafting = graph.ops.size();
  add_iteration(graph, replica, method, work, drafted);
}

StepGraph build_drafted_iteration(const AttentionContext& replica, const Method& method,
                                  const IterationWork& work, std::vector<std::string> tier_names) {
  StepGraph graph{.tier_names = std::move(tier_names)};
  OpId drafted;
  if (replica.speculation != nullptr) {
    drafted = add_drafting(graph, replica, method, work, OpId());
    graph.drafting = graph.ops.size();
  }
  add_iteration(graph, replica, method, work, drafted);
  return graph;
}

}  // namespace tiersim
