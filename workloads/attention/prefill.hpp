#pragma once
// Exact attention of a whole sequence over itself, as a fused kernel does it (FlashAttention):
// queries, keys and values are read once, scores never leave the chip.
//   FLOPs     2 * batch * heads * pairs * (width of a key + width of a value), where pairs counts
//             the (query, key) positions: causal, within the window; all of them in an encoder.
//   Chunks    positions before a chunk are read from the cache, and attended to by all of it; from
//             a far tier they are copied to staging first.
//   Ignores   that keys are read again for every tile of queries (L2 holds them), and tiles that
//             the diagonal cuts.
#include "workloads/attention/method.hpp"

namespace tiersim {

/// Causal attention of a decoder layer over the step's context, or of its chunks. `cached` lists
/// where the method keeps what a chunk has before it.
OpId add_prefill_attention(StepGraph& graph, const AttentionContext& context, int layer,
                           const std::vector<CachedTensor>& cached, std::vector<OpId> after);

/// Attention of every one of `queries` positions over every one of `positions`; whose keys and
/// values are read from the near tier as `from`.
OpId add_full_attention(StepGraph& graph, const AttentionContext& context, int layer,
                        std::int64_t queries, std::int64_t positions, TensorClass from,
                        std::vector<OpId> after);

/// Positions before the chunks of a prefill, together.
std::int64_t positions_before(const AttentionContext& context);

/// (query, key) pairs of a causal sequence of so many positions, each attending to at most `window`
/// positions, itself included.
std::int64_t causal_pairs(std::int64_t positions, std::int64_t window);

}  // namespace tiersim
