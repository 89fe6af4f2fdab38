#pragma once
// Recall at budget beside speed: the result of `tiersim numerics` for a method at the settings of a
// simulated point.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/pareto/pareto_report.hpp"

namespace tiersim {

inline constexpr std::string_view kRecallMetric = "recall_at_budget";

/// The recall of one point's method, or the reason for none.
struct Recalled {
  std::optional<Metric> value = {};
  std::string basis = {};    ///< setting of the study
  std::string why_not = {};  ///< empty where there is a value
};

/// One result for each record, from its configuration; null stands for a point that did not run.
/// Takes seconds.
std::vector<Recalled> recalled(const std::vector<const RunRecord*>& records);

struct Accuracy {
  ParetoObjective recall;  ///< to maximize; empty if no study covers the method
  ParetoColumn basis;      ///< the study behind each value, or the reason for none
};

/// recalled() of every point.
Accuracy accuracy_of(const PointTable& table);

}  // namespace tiersim
