#pragma once
// Attention of a prompt whose positions are cut over context ranks (ParallelConfig::context). A
// rank has the queries of its own positions, which meet the keys and values of all before them.
//   Ring      N steps: in each, the rank's queries meet the rows of one rank while the next rank's
//             rows arrive and these leave (pass KV). Two buffers receive, so that a transfer starts
//             when the one before it has ended, and the attention two steps back. A step takes the
//             longer of its attention and its transfer. A kernel merges the N partial results by
//             their logarithms of sums of exponentials (fp32).
//   Pass Q    in such a ring the queries go round instead (`context_ring: pass_q`): each rank's own
//             rows meet the queries of one rank in each step, an all-to-all brings the partial
//             results back, beside which nothing runs, and the same kernel merges them. A rank
//             sends N - 1 times its queries and results, or with pass KV its rows, cached ones
//             included: `auto` takes what is fewer bytes. Without the way back queries are fewer
//             where the new positions are below 2 KV heads / heads of all (equation 1 of the
//             paper).
//   Gather    all rows come before the attention, which is then one kernel (all_gather).
//   Heads     queries, keys and values of all positions come for a part of the heads, and the
//             results go back (all_to_all, DeepSpeed-Ulysses).
//   Windows   in a ring, a layer with a window or chunks of attention takes from the ranks before
//             its pieces the rows that their first positions attend to. It gathers all rows where
//             these lie in more than one piece.
//   Latents   the rows are latents. Where keys and values are explicit, each rank unpacks them for
//             the rows that it receives, too.
//   Bytes     of a hop: bf16 rows of the rank with the most positions.
//   FLOPs     the pairs of a rank's queries; over all ranks those of one GPU, but for the unpacking
//             of latents.
//   Cached    positions before a prompt lie on the ranks in equal parts. They go with the rows of
//             the new ones, in the type that the cache has.
//   Ignores   smaller messages of ranks with fewer positions; the wait of ranks that
//             end a step earlier (contiguous).
//   Source    Ring Attention (arXiv:2310.01889), Striped Attention (arXiv:2311.09431), Llama 3
//             (arXiv:2407.21783, section 3.3.2), DeepSpeed-Ulysses (arXiv:2309.14509), Context
//             Parallelism for Scalable Million-Token Inference (arXiv:2411.01783, sections 3.5 and
//             B).
#include "workloads/attention/method.hpp"

namespace tiersim {

/// Adds the exchange and the attention of one layer on one GPU. `made`: operation that makes the
/// rank's own rows; `ready`: operation that the attention waits for. Precondition: context.prompt >
/// 0. Returns the operation that produces the attention's output.
OpId add_context_attention(StepGraph& graph, const AttentionContext& context, int layer, OpId made,
                           OpId ready);

/// Bytes of one position's keys and values that ranks send each other in one layer.
Bytes exchanged_row(const LlmConfig& model);

/// Buffers of the exchange for one prompt, of the layer that takes most: rows that arrive, partial
/// results, unpacked rows. Nothing where the prompt is not cut.
Bytes context_buffers(const AttentionContext& context);

}  // namespace tiersim
