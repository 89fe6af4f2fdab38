#pragma once
// Heads from arrays that somebody recorded, in place of synthetic ones.
#include <vector>

#include "workloads/numerics/given_arrays.hpp"
#include "workloads/numerics/head_case.hpp"

namespace tiersim::numerics {

/// Every mistake in shapes and elements, or the heads. Offline parts are calibrated on the first
/// half of the tokens; of the queries, the last 48 at most are measured, and none from before half
/// of the tokens where every query is given.
Expected<LayerData, std::vector<ArrayProblem>> heads_from(const GivenArrays& arrays);

}  // namespace tiersim::numerics
