#pragma once
// Attention of a decode step whose sequences have their cached positions on all context ranks
// (ParallelConfig::context), each of which computes the products of its own part of the sequences.
//   Part      a rank attends for all sequences to its part of their positions, 1 / N of those under
//             a window or in a chunk, too, since consecutive positions lie on the ranks in turn.
//   Gather    before it every rank gathers the queries, keys and values of the new positions, in
//             bf16. A new position is kept on one of the ranks, of each sequence another one.
//   Return    an all-to-all takes the partial results in bf16, with a logarithm of the sum of
//             exponentials in fp32 for each head, to the rank of their sequence, where a kernel
//             merges N of each.
//   Bytes     that a rank sends are (N - 1) / N of 2 B for each element of the queries of a GPU's
//             heads, of a row and of the results of these heads, and of 4 B a head, for each
//             sequence. They do not grow with the context.
//   Ignores   the rounding of unequal parts beyond one position; an exchange in parts that overlaps
//             with the attention (Helix's HOP-B).
//   Source    Context Parallelism for Scalable Million-Token Inference (arXiv:2411.01783, section
//             on decode: batches over the ranks, positions kept in turn, results by an all-to-all,
//             but queries by a ring); Helix Parallelism (arXiv:2507.07120) and vLLM's decode
//             context parallelism, which have the exchange within the GPUs of tensor parallelism.
#include "workloads/attention/method.hpp"

namespace tiersim {

/// The part of a context rank: all sequences, each with 1 / N of its positions. The same
/// context where a decode step is not shared so (AttentionContext::shared).
AttentionContext rank_part(const AttentionContext& device);

/// Buffers of the exchange of one layer; nothing where a decode step is not shared so.
Bytes shared_buffers(const AttentionContext& device);

/// One layer of a decode step: add_layer() of the method, beside the exchange where ranks share it.
LayerOps add_decode_layer(StepGraph& graph, const AttentionContext& context, const Method& method,
                          LayerInputs in);

}  // namespace tiersim
