#pragma once
// A point as the JSON of reports names it. A template, so that this header needs no JSON library.
#include <algorithm>
#include <cstddef>
#include <optional>

#include "reports/points/point_table.hpp"

namespace tiersim {

/// {labels: {<column>: <label>}, run_id, problem?}
template <class Json>
Json point_object(const PointTable& table, std::size_t point) {
  const ReportPoint& of = table.points[point];
  Json labels = Json::object();
  for (std::size_t c = 0; c < std::min(of.labels.size(), table.columns.size()); ++c)
    labels[table.columns[c].name] = of.labels[c];
  Json out{{"labels", std::move(labels)}, {"run_id", of.run_id}};
  if (!of.problem.empty()) out["problem"] = of.problem;
  return out;
}

template <class Json>
Json number_or_null(std::optional<double> value) {
  return value ? Json(*value) : Json();
}

}  // namespace tiersim
