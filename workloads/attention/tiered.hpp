#pragma once
// Method card: tiered
//   Keeps     the newest `near_positions` of every sequence, or the share `near_share` of its
//             positions, in the near tier and the older ones in the far tier; `buffers` layers'
//             worth of far rows in near staging.
//   Step      dense attention in two parts. The far rows of a layer are copied as in
//             layer_prefetch, in parallel to computation. The near rows are attended to in place,
//             then the far ones from staging, and the two results are merged by the sums of their
//             exponentials, as flash decoding merges splits (Dao et al. 2023) and cascade
//             attention its prefixes (FlashInfer, arXiv 2501.01005). The new row is stored near;
//             the row that it displaces is written far.
//   Bytes     2 * batch * kv_heads * context * head_dim elements a layer, of them the far share
//             over the links and twice more through staging; merge: two outputs in bf16 and two
//             fp32 sums a query head read, one output written. Queries are read once a part.
//   FLOPs     4 * batch * heads * context * head_dim a layer, and 3 * value width a query head for
//             the merge (scale, scale, add; the few of its two weights are left out).
//   Prefill   exact attention; every row is written to the tier that keeps it.
//   Ends      all rows near: the dense method, near. No rows near: layer_prefetch. Neither merges.
//   Ignores   copies for the next step during the end of this one: a step starts with empty
//             buffers.
//   Latents   the latent row takes the place of the key row; it has no values of its own.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_tiered(Registry<MethodKind>& registry);

}  // namespace tiersim
