// Every case of every family: what the campaign checks and times.
#pragma once
#include "kernels/cases/case.hpp"

namespace tiersim::kernels {

CaseList all_cases(Sizes sizes);

}  // namespace tiersim::kernels
