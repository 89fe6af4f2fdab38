#pragma once
// Simulated servers against published runs, as tables and as JSON.
#include <string>
#include <vector>

#include "reports/render/table.hpp"
#include "sim/validate/published_score.hpp"

namespace tiersim {

/// Errors by metric, then by group, with the assumptions and the causes of the errors.
Table errors_table(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes);
/// Every printed value of a group.
Table cases_table(const PublishedGroup& group, const std::vector<PublishedOutcome>& outcomes);
/// The runs of a group that shows the latency wall, by number of users.
Table wall_table(const PublishedGroup& group, const std::vector<PublishedOutcome>& outcomes);

/// All tables, one after another.
std::string to_text(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes);
/// {cases: [{id, level, predicted, reference, unit, error, band, status, low, high}], groups: [{id,
/// counted, errors}], walls, summary}; errors and summary by metric. A case without draws has no
/// low and high, and one that could not run has a reason in place of `predicted`.
std::string to_json(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes);

}  // namespace tiersim
