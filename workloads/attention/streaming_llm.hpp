#pragma once
// Method card: streaming_llm (Xiao et al. 2023, arXiv 2309.17453)
//   Keeps     the first `sinks` positions and the newest `window`, in the near tier; all others are
//             evicted for good. These are numbers of positions, not shares: the cache does not
//             grow with the context.
//   Step      reads all kept rows; the new row replaces the oldest of the window.
//   Bytes     2 * batch * kv_heads * kept * head_dim elements a layer, in runs of a whole sequence;
//             kept = min(context, sinks + window).
//   FLOPs     4 * batch * heads * kept * head_dim a layer.
//   Prefill   exact attention over the whole prompt (within the model's own window); the kept rows
//             are written.
//   Ignores   the rotary embedding: keys are cached before it, and each step applies it by position
//             in the cache, fused with reading them.
//   Assumed   full attention over the prompt; attention within sinks and window only, as for a
//             stream, would be less.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_streaming_llm(Registry<MethodKind>& registry);

}  // namespace tiersim
