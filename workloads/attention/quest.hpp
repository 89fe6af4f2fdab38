#pragma once
// Method card: quest (Tang et al. 2024, arXiv 2406.10774)
//   Keeps     keys and values in `kv_tier`. For each page of positions and cached head, the
//             elementwise minimum and maximum of the keys, in `bounds_tier` and the KV cache's
//             type.
//   Step      bounds the score of every page by its two vectors, takes the pages with the highest
//             bounds, and attends over all their rows. The first `dense_layers` layers, where
//             attention is spread, read every row. The new row widens the bounds of the newest
//             page. Far keys: one crossing to the far tier a layer, two where the bounds are also
//             far.
//   Bytes     screening: batch * kv_heads * pages * 2 * head_dim elements, in runs of a whole
//             sequence; rows: 2 * batch * kv_heads * chosen * page * head_dim elements, in runs of
//             a page; chosen = budget * context / page, both rounded up; pages = context / page.
//   FLOPs     screening 4 * batch * heads * pages * head_dim (both vectors times the query; taking
//             the larger is not counted), attention 4 * batch * heads * chosen * page * head_dim.
//   Prefill   exact attention; rows and all bounds are written.
//   Ignores   reading the newest page's bounds before they are written back; top-k.
//   MLA       the latent takes the place of the key.
//   Assumed   bounds are kept for the dense layers as well.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_quest(Registry<MethodKind>& registry);

}  // namespace tiersim
