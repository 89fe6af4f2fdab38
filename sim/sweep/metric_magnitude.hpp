#pragma once
// Metrics as values of expressions.
#include <string>

#include "sim/expression/expression.hpp"

namespace tiersim {

/// The metric's value in expressions; `metric` is a full name. Counts, tokens/s and other rates of
/// counts are plain numbers.
Magnitude metric_magnitude(const std::string& metric, double value);

}  // namespace tiersim
