#pragma once
// Keys and values of the layers that an early exit skips. Source: Miao et al. 2024 (early exit),
// section 3.2.
#include <cstdint>

#include "workloads/numerics/early_exit_sample.hpp"
#include "workloads/numerics/study.hpp"

namespace tiersim::numerics {

/// Adds the statement that filling projects the state at the exit. Adds the distance of the filled
/// rows from those of all layers, by exit layer, as a table and a curve.
void add_fill_study(const EarlyExitSample& sample, std::uint64_t seed, Study& study);

}  // namespace tiersim::numerics
