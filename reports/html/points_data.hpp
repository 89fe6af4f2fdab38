#pragma once
// Data of the points for the scripts of a page: JSON by columns, since 100,000 points as objects
// would repeat every name 100,000 times.
#include <string>

#include "reports/html/points_view.hpp"

namespace tiersim {

/// {"points", "columns": [{name, key, unit, labels, order, numbers, at}],
///  "metrics": [{name, unit, meaning, class, values, low, high}],
///  "objectives": [{metric, maximize}], "shown", "front", "feasible", "problems": [[point, text]],
///  "run_ids", "words", "rerun": [[index of words]], "choice": {x, metric, colour, panel},
///  "limits": [{metric, value, text}], "whole", "config": {...}, "changed": [[path, value]]}
/// `choice` names columns and a metric that the command chose for the first chart.
/// `whole` is the number of all points where these are a part of them.
/// Values have 7 significant digits and whole numbers have all digits. Drawing and sorting need no
/// more, and `rerun` gives every bit. Labels of a column and words of commands are stored once. Run
/// ids are complete up to kWholeIds points, and their first 16 digits beyond. Configurations are
/// stored where the records have them, up to kConfigs points: the first in full, the others as
/// differences from it.
std::string points_json(const PointTable& table, const PointsView& view);

inline constexpr std::size_t kWholeIds = 5000;
inline constexpr std::size_t kConfigs = 500;

}  // namespace tiersim
