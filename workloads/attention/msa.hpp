#pragma once
// Method card: msa (MiniMax sparse attention: MiniMax-M3; modular_minimax_m3_vl.py of transformers,
// models/minimax_m3 of vLLM 0.24)
//   Keeps     keys and values; in the near tier an index key of head_dim elements of bf16, of every
//             position and layer with an indexer (256 bytes for 128 elements), which serves all
//             index heads.
//   Step      one product makes index key and index queries; each index head scores every position,
//             keeps the best score of a block, and chooses the top_k / block best blocks, which the
//             query heads of its KV head attend to. Layers of full_attention read every row.
//   Bytes     index keys batch * context * 256; scores batch * heads * blocks * 4 written and read
//             again by the choice; lists batch * heads * chosen blocks * 4; rows: batch * kv_heads
//             * min(top_k, context) of keys and values, in runs of a block of a head; row_fetch.hpp
//             for rows in the far tier.
//   FLOPs     indexer 2 * batch * its weights; scores 2 * batch * heads * head_dim * context in
//             bf16; attention as of grouped queries, over min(top_k, context) positions.
//   Drafts    as under dsa.
//   Prefill   each query scores the positions before it and attends to top_k of them. The kernel
//             goes over blocks with the queries that chose each, so that keys and values are read
//             once; lists and queries have the order of the queries.
//   GPUs      of a tensor group each have the index heads of their KV heads, and every index key.
//   Ignores   that the newest block, which is always chosen, may be partly filled; partial sums of
//             a prefill's queries between blocks.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_msa(Registry<MethodKind>& registry);

}  // namespace tiersim
