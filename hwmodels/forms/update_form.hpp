#pragma once
// Model card: update_form (fitted from timings)
//   Models    the kernel of a decode step of linear attention: it reads the state of each sequence
//             and head, updates it by each new token, answers the token's query and writes it.
//   Equation  t = (t0 + (work^p + M^p)^(1/p)) * exp(surface(states / SMs, tokens)).
//             A state is that of a sequence and value head.
//             work = (c0 + c1 * tokens) * (1 + (states / (SMs * resident))^w)^(1/w): states side by
//             side, then one after the other.
//             M = bytes / (share * memory rate), of which a part is in L2 (warm_memory.hpp): the
//             states once read and once written for each token (a verification of drafts keeps the
//             state after each of them), and queries, keys, values and results.
//   Ignores   the number of key heads beyond their bytes; other kernels on the GPU.
//   Valid     the timed sizes.
//   Source    timings, by fit_form. The kernels are those of flash-linear-attention.
//   Checked   tests/unit/hwmodels/linear_forms_test.cpp: by hand, and planted truth
#include "hwmodels/forms/linear_case.hpp"

namespace tiersim {

const KernelForm& update_form();

}  // namespace tiersim
