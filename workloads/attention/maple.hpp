#pragma once
// Method card: maple (Liu et al., MAPLE: Memory-Aware Predict and Load)
//   Keeps     keys and values in the far tier; low-rank keys of `rank_ratio * head_dim` elements of
//             `key_type` a position and KV head in `lowrank_tier`; in the near tier the projections
//             that make them.
//   Step      projects the new token to low rank, scores against the low-rank keys (near tier
//             only), fetches the chosen share of rows: one crossing to the far tier a layer. The
//             paper's low-rank keys are near. Far ones, to learn what that is worth, are copied to
//             the GPU first: two crossings.
//   Bytes     screening: batch * kv_heads * context * rank * key_type, in runs of a sequence;
//             rows: 2 * batch * kv_heads * budget * context * head_dim elements, in runs of a row;
//             row_fetch.hpp for unions, pages and caches.
//   FLOPs     projection 2 * batch * (hidden * k + k^2 + k * q), k = kv_heads * rank (P counted
//             dense), q = heads * rank;
//             screening 2 * batch * heads * context * rank;
//             attention 4 * batch * heads * budget * context * head_dim.
//   Prefill   the same projection over the whole prompt, low-rank keys kept near; full rows written
//             far.
//   Guess     a guessed query comes with a guessed low-rank key. If `fetch.guess_miss` makes the
//             layer screen again, the true key replaces it.
//   Ignores   top-k and the traffic of the scores (fused with screening); that a new low-rank key
//             is sent to the far tier only after its projection.
//   MLA       the latent row takes the place of the key row; it has no values of its own.
//   Assumed   INT8 low-rank keys of rank head_dim / 4: the paper states INT8 for the projections,
//             and its Table 1 (+6.25 % footprint) agrees with this.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_maple(Registry<MethodKind>& registry);

}  // namespace tiersim
