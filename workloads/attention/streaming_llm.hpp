#pragma once
// Method card: streaming_llm (Xiao et al. 2023, arXiv 2309.17453)
//   Keeps     the first `sinks` positions and the newest `window`, in the near tier; all others are
//             gone for good. A count of positions, not a share: the cache does not grow with the
//             context.
//   Step      reads all that is kept; the new row takes the place of the oldest of the window.
//   Bytes     2 * batch * kv_heads * kept * head_dim elements a layer, in runs of a whole sequence;
//             kept = min(context, sinks + window).
//   FLOPs     4 * batch * heads * kept * head_dim a layer.
//   Prefill   exact attention over the whole prompt (within the model's own window); the kept rows
//             are written.
//   Ignores   that keys are cached before the rotary embedding, which each step applies by position
//             in the cache: fused with reading them.
//   Assumed   that the prompt is read with full attention; within sinks and window only, as a
//             stream is, it would be less.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_streaming_llm(Registry<MethodKind>& registry);

}  // namespace tiersim
