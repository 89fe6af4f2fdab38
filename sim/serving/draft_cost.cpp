#include "sim/serving/draft_cost.hpp"

#include <algorithm>

namespace tiersim {

bool DraftCost::has_passes(const AttentionContext& replica) {
  return replica.speculation != nullptr && replica.speculation->most_tokens() > 0 &&
         !replica.speculation->draft.is(DraftKind::ngram);
}

DraftCost::DraftCost(const AttentionContext& replica, const Method& method, const System& system)
    : draft_(replica.speculation->draft),
      speculation_(*replica.speculation),
      cost_(draft_context(replica), method, system),
      sum_(system) {}

const Demand& DraftCost::before(const IterationBatch& batch) {
  sum_.clear();
  // A prompt that nothing decodes beside is read by the draft of the sequences to come.
  const std::int64_t drafts = batch.decodes > 0 ? batch.drafts : speculation_.tokens_at(1);
  for (const DraftPass& pass : draft_passes(draft_, drafts)) {
    const std::int64_t mean = batch.decodes > 0 ? batch.positions / batch.decodes : 0;
    const std::int64_t positions = std::clamp<std::int64_t>(mean, 1, pass.positions);
    IterationBatch of{.decodes = batch.decodes,
                      .positions = batch.positions + batch.decodes * (pass.ahead - (positions - 1)),
                      .drafts = positions - 1,
                      .padding = batch.padding,
                      .logits = batch.decodes};
    if (pass.reads_prompts) of.chunks = batch.chunks;
    if (of.decodes > 0 || !of.chunks.empty()) sum_.add(cost_.of(of));
  }
  return sum_;
}

}  // namespace tiersim
