// All cases of all families, for the checks and timings of the campaign.
#pragma once
#include "kernels/cases/case.hpp"

namespace tiersim::kernels {

CaseList all_cases(Sizes sizes);

}  // namespace tiersim::kernels
