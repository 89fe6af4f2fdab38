#pragma once
// Exact attention of a whole sequence over itself, as a fused kernel does it (FlashAttention):
// queries, keys and values are read once, scores never leave the chip.
//   FLOPs     2 * batch * heads * pairs * (width of a key + width of a value), where pairs is the
//             number of (query, key) positions: causal, within the window; all of them in an
//             encoder.
//   Chunks    every position of a chunk attends to the positions before it, which are read from the
//             cache; those of a far tier are copied to staging first.
//   Ignores   repeated reads of keys for every tile of queries (L2 holds them), and tiles that
//             the diagonal cuts.
#include "workloads/attention/method.hpp"

namespace tiersim {

/// Causal attention of a decoder layer over the step's context, or over its chunks. `cached` lists
/// the tiers that hold the positions before a chunk.
OpId add_prefill_attention(StepGraph& graph, const AttentionContext& context, int layer,
                           const std::vector<CachedTensor>& cached, OpIds after);

/// Reads of the rows that positions choose each for itself. each_query: one by one, so that what
/// positions read in common is not taken as found in L2. once: the kernel goes over the rows with
/// the queries that chose them.
enum class SparseReads : std::uint8_t { each_query, once };

/// The same where each position attends to `most` of those before it, itself included.
OpId add_sparse_prefill_attention(StepGraph& graph, const AttentionContext& context, int layer,
                                  std::int64_t most, SparseReads reads,
                                  const std::vector<CachedTensor>& cached, OpIds after);

/// Attention of each of `queries` positions over each of `positions`, whose keys and values are
/// read from the near tier as `from`.
OpId add_full_attention(StepGraph& graph, const AttentionContext& context, int layer,
                        std::int64_t queries, std::int64_t positions, TensorClass from,
                        OpIds after);

/// Attention of new positions over a part of the positions before them, by one kernel.
struct PrefillBlock {
  std::int64_t queries = 0;  ///< positions of a sequence that attend
  std::int64_t keys = 0;     ///< positions of a sequence whose rows this step made, and are read
  std::int64_t found = 0;    ///< positions of a sequence whose rows were cached, and are read
  std::int64_t pairs = 0;    ///< of a query and a key of a sequence
  std::int64_t runs = 1;     ///< of consecutive queries, equally long
};
/// The block for every sequence of the batch. For kernels
/// that follow timings it is causal attention with as many pairs.
OpId add_prefill_block(StepGraph& graph, const AttentionContext& context, int layer,
                       const PrefillBlock& block, OpIds after);
/// Bytes of one position's keys and values as such a block reads them, in one layer.
Bytes attended_row(const LlmConfig& model, LatentForm form);
/// Bytes of one position's queries of all heads, in bf16.
Bytes attended_query(const LlmConfig& model, LatentForm form);
/// Bytes of one query position's result of all heads, in bf16.
Bytes attended_result(const LlmConfig& model, LatentForm form);

/// Number of positions before the chunks of a prefill, over all chunks.
std::int64_t positions_before(const AttentionContext& context);
/// Number of pairs of a new position and one that it attends to, over all sequences or chunks.
std::int64_t causal_pairs(const AttentionContext& context);

}  // namespace tiersim
