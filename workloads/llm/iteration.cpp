#include "workloads/llm/iteration.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>

#include "workloads/llm/context_pieces.hpp"
#include "workloads/llm/speculation.hpp"

namespace tiersim {
namespace {

// Chunks of the GPU with the most of them, where each GPU has sequences of its own.
std::vector<PromptChunk> own_chunks(const ParallelConfig& p, std::vector<PromptChunk> all) {
  if (!p.sequences_are_spread()) return all;
  std::ranges::stable_sort(all, std::greater<>{}, &PromptChunk::tokens);
  std::vector<PromptChunk> own;
  for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(p.sequence_groups()))
    own.push_back(all[i]);
  return own;
}

std::int64_t tokens_of(const std::vector<PromptChunk>& chunks) {
  std::int64_t sum = 0;
  for (const PromptChunk& chunk : chunks) sum += chunk.tokens;
  return sum;
}

// A piece of a prompt that is cut over context ranks. One with fewer positions than pieces is
// padded to them, as engines do.
std::int64_t cut_tokens(const ParallelConfig& p, const PromptChunk& chunk) {
  return std::max(chunk.tokens, p.context_pieces());
}

// The attention of a context rank's part of one piece.
AttentionPart cut_part(const AttentionContext& replica, const PromptChunk& chunk) {
  AttentionContext c = replica;
  c.step.kind = StepKind::prefill;
  c.step.batch = 1;
  c.drafts = 0;
  c.step.context = chunk.before + cut_tokens(c.parallel, chunk);
  c.step.cached.reset();
  if (chunk.before > 0) c.step.cached = chunk.before;
  return {.context = device_step(c).context};
}

StepGraph empty_graph(std::vector<std::string> tier_names) {
  StepGraph graph;
  graph.tier_names = std::move(tier_names);
  return graph;
}

}  // namespace

std::int64_t IterationWork::prompt_tokens() const {
  return tokens_of(chunks);
}

std::int64_t IterationWork::rows_of_rank(const ParallelConfig& parallel) const {
  std::int64_t sum = parallel.own_sequences(decodes + padding) * (1 + drafts);
  for (const PromptChunk& chunk : chunks) {
    const std::int64_t tokens = cut_tokens(parallel, chunk);
    sum += positions_of(pieces_of(parallel, tokens, heaviest_rank(parallel, tokens)));
  }
  return sum;
}

std::vector<IterationWork> micro_works(const AttentionContext& replica, const IterationWork& work) {
  if (!replica.ffn || replica.ffn->micro_batches == 1) return {work};
  const ParallelConfig& p = replica.parallel;
  const std::int64_t groups = p.sequence_groups();
  const std::int64_t own = p.own_sequences(work.decodes);
  const std::int64_t own_rows = p.own_sequences(work.decodes + work.padding);
  const std::int64_t pieces = std::ssize(work.chunks);
  const std::int64_t parts = std::min(replica.ffn->micro_batches, std::max(own_rows, pieces));
  const auto share = [&](std::int64_t all, std::int64_t i) {
    return (all / parts + (i < all % parts ? 1 : 0)) * groups;
  };
  std::vector<IterationWork> out;
  std::int64_t left = work.decodes;
  std::int64_t unpadded = work.padding;
  for (std::int64_t i = 0; i < parts; ++i) {
    IterationWork part = work;
    part.chunks.clear();
    part.decodes = std::min(share(own, i), left);
    // A graph has the same number of rows on every GPU.
    part.padding = i + 1 == parts
                       ? unpadded
                       : std::clamp(share(own_rows, i) - part.decodes, std::int64_t{0}, unpadded);
    part.logits = part.decodes * (1 + work.drafts);
    left -= part.decodes;
    unpadded -= part.padding;
    out.push_back(std::move(part));
  }
  std::int64_t ends = std::max<std::int64_t>(0, work.logits - work.decodes * (1 + work.drafts));
  std::vector<PromptChunk> chunks = work.chunks;
  std::ranges::stable_sort(chunks, std::greater<>{}, &PromptChunk::tokens);
  // Groups read a piece each at a time, and every micro-batch gets some of the pieces.
  const auto lot = static_cast<std::size_t>(std::min(groups, (pieces + parts - 1) / parts));
  for (std::size_t first = 0; first < chunks.size(); first += lot) {
    IterationWork& least = *std::ranges::min_element(out, {}, &IterationWork::rows);
    const std::size_t end = std::min(chunks.size(), first + lot);
    for (std::size_t i = first; i < end; ++i) {
      least.chunks.push_back(chunks[i]);
      if (ends > 0) ++least.logits, --ends;
    }
  }
  std::erase_if(out, [](const IterationWork& part) { return part.rows() == 0; });
  return out;
}

std::int64_t drafted_layers(const AttentionContext& replica, const IterationWork& work) {
  if (work.drafts == 0 || replica.speculation == nullptr) return 0;
  const DraftConfig& draft = replica.speculation->draft;
  return draft.is(DraftKind::early_exit) ? draft.layer : 0;
}

IterationWork last_draft(IterationWork work) {
  work.context += std::exchange(work.drafts, 0);
  return work;
}

std::vector<AttentionPart> iteration_parts(const AttentionContext& replica,
                                           const IterationWork& work) {
  std::vector<AttentionPart> parts;
  if (work.decodes > 0) {
    AttentionContext c = replica;
    c.step.kind = StepKind::decode;
    c.step.batch = work.decodes;
    c.step.context = work.context + work.drafts;
    c.drafts = work.drafts;
    c.mask = c.speculation != nullptr ? c.speculation->mask(work.drafts) : work.mask;
    c.step.encoder_context = work.encoder_context;
    const ParallelConfig& p = replica.parallel;
    parts.push_back(
        {.context = device_step(c).context,
         .padding = (p.own_sequences(work.decodes + work.padding) - p.own_sequences(work.decodes)) *
                    (1 + work.drafts)});
  }
  if (replica.parallel.cuts_prompts()) {
    for (const PromptChunk& chunk : work.chunks) parts.push_back(cut_part(replica, chunk));
  } else if (!work.chunks.empty()) {
    AttentionContext c = replica;
    c.step.kind = StepKind::prefill;
    c.step.batch = 1;
    c.drafts = 0;
    c.chunks = own_chunks(c.parallel, work.chunks);
    c.step.context = tokens_of(c.chunks);
    parts.push_back({.context = device_step(c).context});
  }
  return parts;
}

DeviceStep iteration_step(const AttentionContext& replica, const IterationWork& work) {
  AttentionContext c = replica;
  c.step.kind = StepKind::decode;
  c.step.context = 1;
  c.step.encoder_context = work.encoder_context;
  c.step.batch = work.rows();
  c.drafts = 0;
  DeviceStep step = device_step(c);
  std::int64_t own = 0;
  for (const AttentionPart& part : iteration_parts(replica, work)) own += part.rows();
  step.context.step.batch = own;
  step.logits = work.logits;
  if (c.parallel.cuts_prompts()) {  // each rank has a head for its own sequences
    step.context.shared = 0;
    step.group_batch = own;
    step.logits = c.parallel.own_sequences(work.logits);
  }
  return step;
}

OpId add_iteration(StepGraph& graph, const AttentionContext& replica, const Method& method,
                   const IterationWork& work, OpId after) {
  DeviceStep step = iteration_step(replica, work);
  const auto layers = static_cast<int>(step.context.model.layers);
  const auto drafted = static_cast<int>(drafted_layers(replica, work));
  std::vector<AttentionPart> parts = iteration_parts(replica, work);
  for (AttentionPart& part : parts) part.layers.resize(static_cast<std::size_t>(drafted));
  StepChain chain(std::move(step), method, graph, std::move(parts));
  OpId copy_after;
  if (drafted > 0) {
    const IterationWork last = last_draft(work);
    StepChain first(iteration_step(replica, last), method, graph, iteration_parts(replica, last));
    first.begin(after);
    for (int layer = 0; layer < drafted; ++layer) first.add_layer(layer, copy_after);
    chain.resume_after(first.last());
  } else {
    chain.begin(after);
  }
  for (int layer = drafted; layer < layers; ++layer) chain.add_layer(layer, copy_after);
  chain.end();
  return chain.last();
}

StepGraph build_iteration(const AttentionContext& replica, const Method& method,
                          const IterationWork& work, std::vector<std::string> tier_names) {
  StepGraph graph = empty_graph(std::move(tier_names));
  if (!replica.ffn) {
    add_iteration(graph, replica, method, work, OpId());
    return graph;
  }
  std::deque<StepChain> chains;
  for (const IterationWork& part : micro_works(replica, work))
    chains.emplace_back(iteration_step(replica, part), method, graph,
                        iteration_parts(replica, part));
  return run_in_turns(graph, chains);
}

StepGraph build_iteration_begin(const AttentionContext& replica, const Method& method,
                                const IterationWork& work, std::vector<std::string> tier_names) {
  StepGraph graph = empty_graph(std::move(tier_names));
  StepChain(iteration_step(replica, work), method, graph, iteration_parts(replica, work)).begin();
  return graph;
}

StepGraph build_iteration_end(const AttentionContext& replica, const Method& method,
                              const IterationWork& work, std::vector<std::string> tier_names) {
  StepGraph graph = empty_graph(std::move(tier_names));
  StepChain(iteration_step(replica, work), method, graph, iteration_parts(replica, work)).end();
  return graph;
}

StepGraph build_stage_transfer(const AttentionContext& replica, const Method& method,
                               const IterationWork& work, std::vector<std::string> tier_names) {
  StepGraph graph = empty_graph(std::move(tier_names));
  StepChain(iteration_step(replica, work), method, graph, iteration_parts(replica, work))
      .to_next_stage(OpId());
  return graph;
}

StepGraph build_iteration_layer(const AttentionContext& replica, const Method& method,
                                const IterationWork& work, int layer,
                                std::vector<std::string> tier_names) {
  StepGraph graph = empty_graph(std::move(tier_names));
  std::vector<AttentionPart> parts = iteration_parts(replica, work);
  for (AttentionPart& part : parts) part.attends = false;
  StepChain chain(iteration_step(replica, work), method, graph, std::move(parts));
  OpId copy_after;
  chain.add_layer(layer, copy_after);
  return graph;
}

StepGraph build_part_attention(const AttentionPart& part, const Method& method, int layer,
                               std::vector<std::string> tier_names) {
  StepGraph graph = empty_graph(std::move(tier_names));
  add_part_attention(graph, part, method, layer, OpId());
  return graph;
}

}  // namespace tiersim
