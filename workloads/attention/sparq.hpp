#pragma once
// Method card: sparq (Ribar et al. 2023, arXiv 2312.04985), offloaded to the far tier
//   Keeps     keys and values in the far tier, and a second copy of the keys, transposed, beside
//             them.
//   Step      fetches r of head_dim key columns, scores them, fetches the chosen share of rows.
//             Two dependent crossings to the far tier a layer.
//   Bytes     screening with two copies: batch * kv_heads * r * context elements, in runs of a
//             whole column; with one copy: of each row a 32 B sector for each of the r columns, or
//             the whole row once that is half of it (a counter-example, which saves little);
//             rows: 2 * batch * kv_heads * budget * context * head_dim elements, in runs of a row;
//             row_fetch.hpp for unions, pages and caches.
//   FLOPs     2 * batch * heads * context * r,
//             then 4 * batch * heads * budget * context * head_dim.
//   Prefill   exact attention; rows and the transposed copy are written far.
//   Ignores   the running mean of the values that SparQ adds, and different columns for the query
//             heads of one GQA group.
//   MLA       the latent takes the place of the key.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_sparq(Registry<MethodKind>& registry);

}  // namespace tiersim
