#pragma once
// The kernels of an average iteration, for `tiersim run --explain`.
#include <string>
#include <vector>

#include "sim/record/explained_iteration.hpp"

namespace tiersim {

/// A table for each kind of iteration.
std::string iterations_text(const std::vector<ExplainedIteration>& iterations);

}  // namespace tiersim
