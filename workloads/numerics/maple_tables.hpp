#pragma once
// The tables of the study that are not sweeps.
#include <vector>

#include "workloads/numerics/maple_statements.hpp"

namespace tiersim::numerics {

/// Name, value and source of every parameter of the synthetic heads.
Table parameter_table(const SyntheticSpec& spec);

/// What the heads look like, in the figures that papers give: mean and range over heads.
Table structure_table(const std::vector<HeadCase>& heads);

/// Losses, eight bits and recall by rank, means over heads. All vectors are by rank.
Table distillation_table(const std::vector<HeadCase>& heads, const std::vector<SweepPoint>& float64,
                         const std::vector<SweepPoint>& int8, const std::vector<Int8Cost>& costs);

/// The losses of distillation_table.
Curve loss_curve(const std::vector<HeadCase>& heads);

Table needle_table(const std::vector<NeedleResult>& results);

}  // namespace tiersim::numerics
