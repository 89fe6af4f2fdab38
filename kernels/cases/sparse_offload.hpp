// Sparse attention whose rows lie in host memory: scores of index keys, the choice of the best
// tokens, the hot buffer of rows on the device, and attention over the chosen rows.
//   sparse_offload.indexer_scores.<h64, h32>.*     scores of all tokens by index keys
//   sparse_offload.<topk, topk_long>.f32-i32.*     the best tokens by scores
//   sparse_offload.lru_update.bisection.*          hits, victims and slots of a step
//   sparse_offload.hot_gather.<missed, staged>.*   rows from host memory and from the buffer
//   sparse_offload.hot_step.<missed, staged>.*     both in one launch
//   sparse_offload.sparse_latent.<tile64, tile32>.* attention over the chosen rows
#pragma once
#include "kernels/cases/case.hpp"

namespace tiersim::kernels {

void add_sparse_offload_cases(CaseList& cases, Sizes sizes);

}  // namespace tiersim::kernels
