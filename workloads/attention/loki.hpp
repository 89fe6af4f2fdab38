#pragma once
// Method card: loki (Singhania et al. 2024, arXiv 2406.02542)
//   Keeps     keys, rotated into the basis of their principal components, and values, in `kv_tier`;
//             beside them only a head_dim x head_dim matrix for each layer and KV head.
//   Step      rotates query and key of the new position, scores by the first `rank` elements of
//             every key, and attends over the chosen share of rows: scores in the new basis are the
//             same, since it is orthogonal. Far keys: two dependent crossings to the far tier a
//             layer.
//   Bytes     screening: batch * kv_heads * context * rank elements, in runs of rank elements;
//             rows: 2 * batch * kv_heads * budget * context * head_dim elements, in runs of a row.
//   FLOPs     rotation 2 * batch * (heads + kv_heads) * head_dim^2, screening
//             2 * batch * heads * context * rank, attention 4 * batch * heads * budget * context *
//             head_dim.
//   Prefill   rotates every position's query and key; exact attention; all rows are written.
//   Guess     a guessed query is rotated separately, beside the true query and key.
//   Ignores   top-k; the first elements of the chosen keys are read twice.
//   MLA       the latent takes the place of the key; its rotation is undone for the values inside
//             the value unpacking.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_loki(Registry<MethodKind>& registry);

}  // namespace tiersim
