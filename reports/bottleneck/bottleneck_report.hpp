#pragma once
// Bottlenecks as tables, JSON and a figure.
#include <string>
#include <vector>

#include "reports/bottleneck/bottleneck.hpp"
#include "reports/footprint/footprint_report.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

/// Which causes bound how many points, and a row for each point: those of the cause that bounds
/// most points first, the hardest bound first. Rounded tables show 40 points and say how many there
/// are.
std::vector<Table> bottleneck_tables(const PointTable& table, Precision precision);

/// `{report: "bottleneck", causes: [{cause, points, mean_share}], points: [{labels, run_id,
/// bound_by, share, next? {cause, share}, most_gain?, step_time_s?, bound_s?, shares: {<cause>:
/// share}}]}`.
std::string bottleneck_json(const PointTable& table);

/// Up to 40 points: a bar for each, of what its chain waits for. More: a cell for each, in the
/// colour of what bounds it, deeper where its share is larger; a row for each combination of the
/// other labels where they are few, else 100 points a row.
std::string bottleneck_svg(const PointTable& table);

}  // namespace tiersim
