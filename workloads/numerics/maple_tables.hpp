#pragma once
// Tables of the study, other than sweeps.
#include <vector>

#include "workloads/numerics/maple_statements.hpp"

namespace tiersim::numerics {

/// Name, value and source of every parameter of the synthetic heads.
Table parameter_table(const SyntheticSpec& spec);

/// Structure of the heads in the figures that papers report: mean and range over heads.
Table structure_table(const std::vector<HeadCase>& heads);

/// Losses, eight bits and recall by rank, means over heads. All vectors are by rank.
Table distillation_table(const std::vector<HeadCase>& heads, const std::vector<SweepPoint>& float64,
                         const std::vector<SweepPoint>& int8, const std::vector<Int8Cost>& costs);

/// The losses of distillation_table() as a curve.
Curve loss_curve(const std::vector<HeadCase>& heads);

Table needle_table(const std::vector<NeedleResult>& results);

}  // namespace tiersim::numerics
