#pragma once
// The points of a page as data for its scripts: JSON by columns, since a hundred thousand points as
// objects would repeat every name as often.
#include <string>

#include "reports/html/points_view.hpp"

namespace tiersim {

/// {"points", "columns": [{name, key, unit, labels, order, numbers, at}],
///  "metrics": [{name, unit, meaning, class, values, low, high}],
///  "objectives": [{metric, maximize}], "shown", "front", "feasible", "problems": [[point, text]],
///  "run_ids", "words", "rerun": [[index of words]], "config": {...}, "changed": [[path, value]]}
///
/// Values have 7 significant digits, whole numbers all of theirs: what is drawn and sorted needs
/// no more, and `rerun` gives every bit. Labels of a column and words of commands stand once. Run
/// ids are whole up to kWholeIds points, then their first 16 digits. A configuration is held where
/// records have theirs, up to kConfigs points: the first whole, others as what differs from it.
std::string points_json(const PointTable& table, const PointsView& view);

inline constexpr std::size_t kWholeIds = 5000;
inline constexpr std::size_t kConfigs = 500;

}  // namespace tiersim
