#pragma once
// Recall at budget beside speed: the result of `tiersim numerics` for a method at the settings of a
// simulated point.
#include "reports/pareto/pareto_report.hpp"

namespace tiersim {

struct Accuracy {
  ParetoObjective recall;  ///< to maximize; empty if no study covers the method
  ParetoColumn basis;      ///< the study behind each value, or the reason for none
};

/// Reads the methods' settings from the configurations of the records. Takes seconds.
Accuracy accuracy_of(const PointTable& table);

}  // namespace tiersim
