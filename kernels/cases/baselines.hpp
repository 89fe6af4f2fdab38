// What libraries do with the same problems, timed beside our kernels and never fitted: projections
// and heads by cuBLASLt, the largest 2048 of 8192 scores by CUB's sorts (on a card only).
#pragma once
#include "kernels/cases/case.hpp"

namespace tiersim::kernels {

void add_baselines_cases(CaseList& cases, Sizes sizes);

// The part that needs CUB: nothing on the emulator.
void add_sorting_baselines(CaseList& cases, Sizes sizes);

}  // namespace tiersim::kernels
