#pragma once
// Method card: h2o (Zhang et al. 2023, arXiv 2306.14048)
//   Keeps     `recent` of the context's rows, the newest, and `heavy` of them, those with the most
//             attention so far, in the near tier; all others are evicted for good. Beside each
//             kept position and cached head its accumulated attention, fp32.
//   Step      reads all kept rows, adds the step's attention to the scores, and writes the new
//             row over the one that it evicts.
//   Bytes     2 * batch * kv_heads * kept * head_dim elements a layer, in runs of a whole sequence;
//             scores 4 * batch * kv_heads * kept bytes read and as many written;
//             kept = heavy * context + recent * context, each rounded up.
//   FLOPs     4 * batch * heads * kept * head_dim a layer.
//   Prefill   exact attention over the whole prompt; the kept rows and their scores are written.
//   Ignores   the search for the least score (fused with writing the scores), the additions, and
//             the cost of summing probabilities in a fused kernel: in prefill a second pass over
//             the keys.
//   Assumed   one score for the query heads that share a key (the paper has no such models).
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_h2o(Registry<MethodKind>& registry);

}  // namespace tiersim
