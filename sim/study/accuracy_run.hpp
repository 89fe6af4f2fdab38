#pragma once
// Recall at budget beside speed: what `tiersim numerics` computes of a method at the settings of a
// simulated point.
#include "reports/pareto/pareto_report.hpp"

namespace tiersim {

struct Accuracy {
  ParetoObjective recall;  ///< to maximize; nothing where no study has it
  ParetoColumn basis;      ///< what each value is of, or why there is none
};

/// Reads the methods' settings from the configurations of the records. Takes seconds.
Accuracy accuracy_of(const PointTable& table);

}  // namespace tiersim
