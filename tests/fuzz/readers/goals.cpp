#include "sim/study/goals_run.hpp"

#include <cmath>

#include "sim/record/metric_names.hpp"
#include "sim/record/metrics.hpp"
#include "tests/fuzz/readers/readers.hpp"

namespace tiersim::fuzz {

// A metric's full name stands for itself, and a goal is of such a name.
void read_goals(std::string_view given) {
  const std::string text(given);
  const auto metric = resolve_metric(text);
  if (!metric) promise(!metric.error().empty(), "no words");
  if (metric) {
    const auto same = resolve_metric(*metric);
    promise(same && *same == *metric, "a full name means another metric");
  }
  const auto goal = parse_goal(text);
  if (!goal) return promise(!goal.error().empty(), "no words");
  promise(find_metric(goal->metric) != nullptr, "a goal of no metric");
  promise(std::isfinite(goal->limit), "a limit that is no number");
  promise(goal->relation == "<" || goal->relation == "<=" || goal->relation == ">" ||
              goal->relation == ">=",
          "no relation");
  (void)goal->excess(1);
}

}  // namespace tiersim::fuzz
