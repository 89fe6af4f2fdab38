#pragma once
// Heads from recorded arrays, in place of synthetic ones.
#include <vector>

#include "workloads/numerics/given_arrays.hpp"
#include "workloads/numerics/head_case.hpp"

namespace tiersim::numerics {

/// The heads, or every mistake in shapes and elements. Offline parts are calibrated on the first
/// half of the tokens. At most the last 48 queries are measured, and where every query is given
/// none of the first half.
Expected<LayerData, std::vector<ArrayProblem>> heads_from(const GivenArrays& arrays);

}  // namespace tiersim::numerics
