#pragma once
// The comparison of simulated with published runs of servers, as tables and as JSON.
#include <string>
#include <vector>

#include "reports/render/table.hpp"
#include "sim/validate/published_score.hpp"

namespace tiersim {

/// Errors by metric, then by group, with what is assumed and why the errors are what they are.
Table errors_table(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes);
/// Every printed value of a group.
Table cases_table(const PublishedGroup& group, const std::vector<PublishedOutcome>& outcomes);
/// More and more users of a group that shows the wall.
Table wall_table(const PublishedGroup& group, const std::vector<PublishedOutcome>& outcomes);

/// All of them, one after another.
std::string to_text(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes);
/// {cases: [{id, level, predicted, reference, unit, error, band, status}], walls, summary}; a case
/// of a run that could not run has no `predicted`, and says why.
std::string to_json(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes);

}  // namespace tiersim
