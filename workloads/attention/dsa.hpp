#pragma once
// Method card: dsa (DeepSeek sparse attention: DeepSeek-V3.2-Exp, arXiv 2512.02556; GLM-5)
//   Keeps     the latent rows; in the near tier an index key of head_dim elements of fp8 with a
//             scale of 32 bits for 128 elements, of every position (132 bytes for 128 elements).
//   Step      the indexer makes its key, its queries and the weights of its heads; it scores every
//             position, chooses the top_k best, and attention reads their rows.
//   Shared    layers of shared_index (GLM-5.2) have no index keys and no indexer, and read the rows
//             of their own that the last layer of indexed_attention before them chose.
//   Bytes     scores: batch * context * 132 read, batch * context * 4 written and read again by the
//             choice; rows: batch * min(top_k, context) latent rows, in runs of a row;
//             row_fetch.hpp for rows in the far tier.
//   FLOPs     indexer 2 * batch * its weights; scores 2 * batch * heads * head_dim * context in
//             fp8; attention as of any latent, over min(top_k, context) positions.
//   Drafts    each of the q positions that a step verifies scores the context and reads the rows of
//             its own choice, as kernels with an index list do; of far rows the union is fetched
//             (draft_overlap, row_fetch.hpp).
//   Prefill   each query scores the positions before it, and reads the rows of its own top_k; what
//             queries read in common is not taken as found in L2. The latent is absorbed.
//   GPUs      of a tensor group each run the whole indexer, as engines do.
//   Ignores   up to top_k positions, that a prefill in engines reads all rows by another kernel;
//             the list that a stage of a pipeline, which begins with layers of shared_index, gets
//             from the stage before it.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_dsa(Registry<MethodKind>& registry);

}  // namespace tiersim
