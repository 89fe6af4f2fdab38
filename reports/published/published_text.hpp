#pragma once
// Simulated servers against published runs, as tables and as JSON.
#include <string>
#include <vector>

#include "reports/render/table.hpp"
#include "sim/validate/published_score.hpp"

namespace tiersim {

/// Errors by metric, then by group, with the assumptions and the causes of the errors.
Table errors_table(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes);
/// The same by each label that the rows of tables have: by engine, by load.
std::vector<Table> label_tables(const std::vector<PublishedOutcome>& outcomes);
/// Every printed value of a group.
Table cases_table(const PublishedGroup& group, const std::vector<PublishedOutcome>& outcomes);
/// The runs of a group that shows the latency wall, by number of users.
Table wall_table(const PublishedGroup& group, const std::vector<PublishedOutcome>& outcomes);

/// All tables, one after another.
std::string to_text(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes);
/// {runs: [{id, group, metric, unit, measured, simulated, low, high, error, aim, within_aim,
/// counted, labels}], groups: [{id, counted, errors}], labels: [{name, value, errors}], walls,
/// summary}; errors and summary by metric. `low` and `high` are null without draws, and a run that
/// could not be simulated has null for `simulated` and `error`, and says `why`.
std::string to_json(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes);

}  // namespace tiersim
