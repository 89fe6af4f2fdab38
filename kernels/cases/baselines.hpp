// The same problems on libraries, timed beside our kernels and never fitted: projections and heads
// on cuBLASLt, the largest 2048 of 8192 scores by CUB's sorts (on a card only).
#pragma once
#include "kernels/cases/case.hpp"

namespace tiersim::kernels {

void add_baselines_cases(CaseList& cases, Sizes sizes);

// The part that needs CUB; empty on the emulator.
void add_sorting_baselines(CaseList& cases, Sizes sizes);

}  // namespace tiersim::kernels
