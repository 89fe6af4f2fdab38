#pragma once
// Exact attention of a whole sequence over itself, as a fused kernel does it (FlashAttention):
// queries, keys and values are read once, scores never leave the chip.
//   FLOPs     2 * batch * heads * pairs * (width of a key + width of a value), where pairs counts
//             the (query, key) positions: causal, within the window; all of them in an encoder.
//   Ignores   that keys are read again for every tile of queries (L2 holds them), and tiles that
//             the diagonal cuts.
#include "workloads/attention/method.hpp"

namespace tiersim {

/// Causal attention of a decoder layer over the step's context.
OpId add_prefill_attention(StepGraph& graph, const AttentionContext& context, int layer,
                           std::vector<OpId> after);

/// Attention of every one of `queries` positions over every one of `positions`; whose keys and
/// values are read from the near tier as `from`.
OpId add_full_attention(StepGraph& graph, const AttentionContext& context, int layer,
                        std::int64_t queries, std::int64_t positions, TensorClass from,
                        std::vector<OpId> after);

/// (query, key) pairs of a causal sequence of so many positions, each attending to at most `window`
/// positions, itself included.
std::int64_t causal_pairs(std::int64_t positions, std::int64_t window);

}  // namespace tiersim
