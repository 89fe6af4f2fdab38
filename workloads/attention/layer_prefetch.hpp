#pragma once
// Method card: layer_prefetch
//   Keeps     all keys and values in the far tier; `buffers` layers' worth of staging near.
//   Step      dense attention. The copy of a layer's rows starts when the previous copy is done and
//             a buffer is free, that is after the attention of `buffers` layers before. Copies
//             thus run beside the arithmetic of earlier layers (FlexGen, arXiv 2303.06865).
//   Bytes     as dense from the far tier: 2 * batch * kv_heads * context * head_dim elements a
//             layer, in runs of a whole sequence.
//   FLOPs     4 * batch * heads * context * head_dim a layer.
//   Prefill   exact attention; every row is written far.
//   Ignores   copies for the next step during the end of this one: a step starts with empty
//             buffers. The newest row, which did not exist when its copy began, is counted with
//             the others.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_layer_prefetch(Registry<MethodKind>& registry);

}  // namespace tiersim
