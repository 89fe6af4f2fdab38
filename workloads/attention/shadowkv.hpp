#pragma once
// Method card: shadowkv (Sun et al. 2024, arXiv 2410.21465; models/kv_cache.py and kernels/ of
// bytedance/ShadowKV)
//   Keeps     values in the far tier. In the near tier: the keys before their rotation as low-rank
//             factors, a row of `rank` elements for each position, which serves all KV heads, and a
//             basis of rank x (kv_heads * head_dim) elements for each sequence; the mean key of
//             each chunk of positions and KV head (landmark); keys and values of the `outliers`
//             chunks whose keys their mean fits worst, and of the newest `local` chunks.
//   Step      scores the landmarks, takes the chunks with the highest scores, and fetches their
//             values while a product of their rows with the basis makes their keys; attends over
//             outliers, newest and chosen rows. One crossing to the far tier a layer. A row of
//             `fetch.hot_rows` needs neither copy nor product: its key and value are in the cache.
//   Bytes     beside = min(context, (outliers + local) * chunk), n = (context - beside) / chunk
//             candidates, rounded up, chosen = min(budget * context / chunk, n), rounded up, of
//             which m chunks miss the cache.
//             Landmarks: batch * kv_heads * n * head_dim elements, in runs of a whole sequence.
//             Values: batch * kv_heads * m * chunk * head_dim elements, in runs of a chunk.
//             Rows of the factor: batch * kv_heads * m * chunk * rank elements, in runs of a chunk;
//             basis: batch * rank * kv_heads * head_dim, read once for the keys that are made and
//             once for the row of the new position.
//   FLOPs     landmarks 2 * batch * heads * n * head_dim; keys 2 * batch * kv_heads * m * chunk *
//             rank * head_dim; row of the new position 2 * batch * rank * kv_heads * head_dim;
//             attention 4 * batch * heads * (beside + chosen * chunk) * head_dim.
//   Prefill   exact attention; a singular value decomposition of the keys of each sequence, 6 *
//             context * (kv_heads * head_dim)^2 FLOPs (Golub and Van Loan's R-SVD, whose part
//             without the context, 20 * (kv_heads * head_dim)^3, is left out). Of a prompt in
//             pieces, the keys of earlier pieces are made from their rows.
//   GPUs      of a tensor group each keep the whole rows, and the basis of their own KV heads.
//   Hits      the paper: about 60 % of the chosen chunks are those of the step before.
//   Ignores   rotation of the keys that are made; the choice of the outliers; maximum over a group
//             of query heads, and top-k; the old landmark of the newest chunk, which its new one is
//             made of.
//   Assumed   the row of a new position is made at once, and not when it leaves the newest chunks;
//             landmarks are kept of outliers and newest chunks as well, and not scored; the
//             decomposition runs at the rate of bf16, which is above that of fp32.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_shadowkv(Registry<MethodKind>& registry);

}  // namespace tiersim
