#pragma once
// Model card: scan_form (fitted from timings)
//   Models    linear attention of a prompt by chunks of 64 tokens: a chunk's tokens with each other
//             as matrix products, and a state that goes from chunk to chunk of a sequence and head.
//   Equation  t = (t0 + (chain^p + W^p)^(1/p)) * exp(surface(heads / SMs, tokens)).
//             Heads are those of values, of all sequences.
//             chain = (c0 + c1 * min(tokens, 64) + c2 * chunks) * waves: the chunks of a head
//             follow one another. waves = ceil(heads / (SMs * r)) with r heads side by side on an
//             SM, by variant; (1 + (heads / SMs)^w)^(1/w) in the variant `even`, whose heads are
//             split or share SMs freely. W = (C^q + M^q)^(1/q); C = FLOPs of whole chunks / (share
//             * peak), M = bytes / (share * memory rate), of which a part is in L2
//             (warm_memory.hpp): `passes` over queries, keys, values and results, and `states` over
//             the state before each chunk in bf16.
//   Ignores   sequences of different lengths; states that were there before.
//   Valid     the timed sizes.
//   Source    chunks: Yang et al., Gated Delta Networks (arXiv 2412.06464); numbers: timings, by
//             fit_form.
//   Checked   tests/unit/hwmodels/linear_forms_test.cpp: by hand, and planted truth
#include "hwmodels/forms/linear_case.hpp"

namespace tiersim {

const KernelForm& scan_form();

}  // namespace tiersim
