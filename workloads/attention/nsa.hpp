#pragma once
// Method card: nsa (Yuan et al. 2025, arXiv 2502.11089; kernels: fla-org/native-sparse-attention)
//   Models    that were trained with it, with grouped queries. Its weights count with the method:
//             the projections of the two other branches, the compressors and the gates.
//   Keeps     keys and values of the selection in `kv_tier`. In the near tier: a compressed key and
//             value of each `block` positions, every `stride` positions; rings of the keys and
//             values of the window branch and of the newest block to compress, which are of
//             projections of their own; and, of a far selection, copies of the `fixed` blocks that
//             every query selects (the first one and the newest).
//   Step      compressed branch: attention over all compressed rows, whose scores choose `chosen`
//             blocks of `chosen_block` positions for the heads of a KV head together. Selected
//             branch: attention over those. Window branch: attention over the newest `window`
//             positions, which runs while far rows are copied. Gates weigh the three results. One
//             crossing to the far tier a layer.
//   Bytes     m = (context - block) / stride + 1 compressed rows, rounded down, none below a block;
//             w = min(window, context); s = chosen * chosen_block positions, less what the newest
//             block lacks, and at most the context.
//             Compressed rows: 2 * batch * kv_heads * m * head_dim elements, and the keys again by
//             the choice; window: 2 * batch * kv_heads * w * head_dim elements; selection: 2 *
//             batch * kv_heads * s * head_dim elements, in runs of a block, of which the fixed
//             blocks are near; row_fetch.hpp for far rows. Compressor: its weights, and 1 / stride
//             of a block from the ring. Of a context of 65536 a KV head reads 4095 + 512 + 1024
//             rows; the paper (Table 4): 5632.
//   FLOPs     products 2 * batch * hidden * (4 * kv_heads * head_dim + 3 * heads); compressor 4 *
//             batch * kv_heads * block * head_dim^2 / stride; attention 4 * batch * heads *
//             head_dim * (m + w + s); choice 2 * batch * heads * head_dim * m; gates 5 * batch *
//             heads * head_dim.
//   Prefill   each query attends to the rows before it in the same way. Each branch reads keys and
//             values once, the choice the compressed keys again, and compressed rows are made of
//             all positions.
//   Guess     none: the compressed branch needs the layer's own query, and chooses by the way.
//   GPUs      of a tensor group each have the compressors whole.
//   Ignores   sums of scores over a group of heads and over the compressed rows of a block, top-k,
//             positions within a block that the compressor adds, and the queries' sums of
//             exponentials, of 4 B a head.
//   Assumed   a compressor is one matrix of block * head_dim x head_dim for keys and one for
//             values, of all KV heads: the paper has an MLP of no stated width. A step has the mean
//             of a compressed row. The blocks are as many for every layer.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_nsa(Registry<MethodKind>& registry);

}  // namespace tiersim
