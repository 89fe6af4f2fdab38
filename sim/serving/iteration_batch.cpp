#include "sim/serving/iteration_batch.hpp"

#include <algorithm>

namespace tiersim {
namespace {

// Rows that the graph for these sequences has more than they need; none where no graph covers them.
std::optional<std::int64_t> padding_of(const ServerHostConfig& host, const ParallelConfig& parallel,
                                       std::int64_t decodes) {
  const std::int64_t own = parallel.own_sequences(decodes);
  const auto graph = host.graph_for(own);
  if (!graph || *graph == own) return graph ? std::optional<std::int64_t>(0) : std::nullopt;
  return *graph * parallel.sequence_groups() - decodes;
}

}  // namespace

IterationWork IterationBatch::work() const {
  return {.decodes = decodes,
          .context = std::max<std::int64_t>(1, mean_rounded_up(positions, decodes)),
          .padding = padding,
          .chunks = chunks,
          .logits = logits,
          .encoder_context = mean_rounded_up(encoded, decodes),
          .drafts = drafts,
          .mask = mask};
}

IterationBatch batch_of(const Iteration& iteration, bool encoder) {
  IterationBatch batch;
  batch.positions = iteration.positions;
  if (encoder)
    for (const Sequence* s : iteration.decodes) batch.encoded += s->request.input_tokens;
  batch.decodes = static_cast<std::int64_t>(iteration.decodes.size());
  batch.drafts = iteration.drafts;
  batch.logits = batch.decodes * (1 + batch.drafts);
  for (const auto& [s, tokens, executed, before] : iteration.pieces) {
    if (encoder) {
      ++batch.encodes;
      batch.encode_positions += executed;
      batch.encode_outputs += tokens;
      continue;
    }
    batch.chunks.push_back({executed, before});
    if (before + tokens == s->prompt) ++batch.logits;
  }
  return batch;
}

// A graph that reads prompts has whatever number of rows it needs.
Launching launching_of(const ServingConfig& config, const IterationBatch& batch) {
  const ServerHostConfig& host = config.server.host;
  const bool reads_prompts = !batch.chunks.empty() || batch.encodes > 0;
  const std::optional<std::int64_t> padding =
      !reads_prompts             ? padding_of(host, config.scenario.parallel, batch.decodes)
      : host.graphs_with_prompts ? std::optional<std::int64_t>(0)
                                 : std::nullopt;
  return {.graph = padding.has_value(),
          .padding = padding.value_or(0),
          .each = padding ? host.launch.value : host.eager_launch.value};
}

}  // namespace tiersim
