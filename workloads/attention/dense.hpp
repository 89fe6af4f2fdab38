#pragma once
// Method card: dense
//   Keeps     all keys and values in one tier, near or far.
//   Step      reads every row; from the far tier each layer's rows are copied to staging first.
//   Bytes     2 * batch * kv_heads * context * head_dim elements a layer, in runs of a whole
//             sequence.
//   FLOPs     4 * batch * heads * context * head_dim a layer.
//   Prefill   exact attention; every row is written to its tier.
//   Ignores   the newest row need not be fetched, but is counted with the others.
//   Source    baseline of MAPLE Table 1.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_dense(Registry<MethodKind>& registry);

}  // namespace tiersim
