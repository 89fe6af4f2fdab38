// Screening (MAPLE): choice of the best tokens by low-rank scores, by given scores and by SparQ's,
// and exact attention over the chosen tokens.
#pragma once
#include "kernels/cases/case.hpp"

namespace tiersim::kernels {

void add_screening_cases(CaseList& cases, Sizes sizes);

}  // namespace tiersim::kernels
