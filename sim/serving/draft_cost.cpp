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
      sum_(system) {
  for (std::int64_t drafts = 0; drafts <= speculation_.most_tokens(); ++drafts)
    passes_.push_back(draft_passes(speculation_, drafts));
}

const Demand& DraftCost::before(const IterationBatch& batch) {
  sum_.clear();
  // A prompt that nothing decodes beside is read by the draft of the sequences to come.
  const std::int64_t drafts = batch.decodes > 0 ? batch.drafts : speculation_.tokens_at(1);
  for (const DraftPass& pass : passes_[static_cast<std::size_t>(drafts)]) {
    const std::int64_t mean = batch.decodes > 0 ? batch.positions / batch.decodes : 0;
    const std::int64_t positions = std::clamp<std::int64_t>(mean + pass.ahead, 1, pass.positions);
    IterationBatch of{.decodes = batch.decodes,
                      .positions = batch.positions + batch.decodes * (pass.ahead - (positions - 1)),
                      .drafts = positions - 1,
                      .mask = pass.mask,
                      .padding = batch.padding,
                      .logits = batch.decodes * pass.logits};
    if (pass.reads_prompts) of.chunks = batch.chunks;
    if (of.decodes == 0 && of.chunks.empty()) continue;
    if (!draft_.dispatch) {
      sum_.add(cost_.of(of));
      continue;
    }
    pass_ = cost_.of(of);
    pass_.dispatch(draft_.dispatch->value);
    sum_.add(pass_);
  }
  return sum_;
}

}  // namespace tiersim
