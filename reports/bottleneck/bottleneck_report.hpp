#pragma once
// Bottlenecks as tables, JSON and a figure.
#include <string>
#include <vector>

#include "reports/bottleneck/bottleneck.hpp"
#include "reports/footprint/footprint_report.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

/// A table of the causes with the number of points that each bounds, and a table with a row for
/// each point. Points of the most frequent cause come first, those with the largest share before
/// the others. People read 40 points and the number of all points.
std::vector<Table> bottleneck_tables(const PointTable& table);

/// `{report: "bottleneck", causes: [{cause, points, mean_share}], points: [{labels, run_id,
/// bound_by, share, next? {cause, share}, most_gain?, step_time_s?, bound_s?, shares: {<cause>:
/// share}}]}`.
std::string bottleneck_json(const PointTable& table);

/// Up to 40 points are bars, split by the causes that the critical path waits for. More points are
/// cells in the colour of their bottleneck, deeper where its share is larger. Each combination of
/// the other labels has a row of cells where there are few; else a row has 100 points.
std::string bottleneck_svg(const PointTable& table);

}  // namespace tiersim
