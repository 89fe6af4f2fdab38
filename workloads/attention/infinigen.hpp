#pragma once
// Method card: infinigen (Lee et al. 2024, arXiv 2406.19707; speedup/ of snu-comparch/InfiniGen)
//   Keeps     keys and values in the far tier; in the near tier, of each position and KV head, the
//             `partial` share of its key's elements, in the KV cache's type, and the columns of the
//             query weights that belong to them, a second time.
//   Step      scores the partial keys by the partial query, and fetches the rows with the highest
//             scores. The first `dense_layers` layers read every row. One crossing to the far tier
//             a layer.
//   Guess     under step.overlap prefetch_screening, as published: the partial query of a layer is
//             made from the input of the layer before it by the partial weights, so that its rows
//             are fetched while that layer computes. The paper uses the guess alone
//             (fetch.guess_miss 0). Under serial the layer's own query is used.
//   Bytes     r = partial * head_dim, rounded down. Partial weights: hidden * heads * r elements a
//             layer. Partial keys: batch * kv_heads * context * r elements, in runs of a whole
//             sequence; rows: 2 * batch * kv_heads * budget * context * head_dim elements, in runs
//             of a row; row_fetch.hpp for unions, pages and caches.
//   FLOPs     guess 2 * batch * hidden * heads * r; screening 2 * batch * heads * context * r;
//             attention 4 * batch * heads * budget * context * head_dim.
//   Prefill   exact attention; all rows and partial keys are written. The columns are those with
//             the largest sums of absolute query elements: queries and weights are read, and the
//             partial weights are written.
//   Beside    maple: no projection of keys and no weights for one, elements in the type of the
//             cache, a guess by part of the query weights, and dense layers.
//   Ignores   the skewing, which is folded into the weights before; the limit of the far pool and
//             its victims; top-k, and the number of rows by a threshold, whose mean is `budget`
//             (the paper: 10 % on average, 20 % at most).
//   Assumed   one choice of columns for all sequences, as the repository takes that of the first;
//             partial keys and weights are kept for the dense layers as well.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_infinigen(Registry<MethodKind>& registry);

}  // namespace tiersim
