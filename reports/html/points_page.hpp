#pragma once
// The page of `tiersim report html`: points, their settings, and the command that runs each again.
// Without scripts it shows a summary, drawings, the Pareto front and the first rows of the table.
// Scripts add filters, the whole table sorted by any column, and the settings of a picked point.
// With Vega (sim/cmake/TiersimVega.cmake) the drawings are interactive.
#include <string>

#include "reports/html/points_view.hpp"
#include "reports/points/point_table.hpp"

namespace tiersim {

struct PointsPage {
  std::string version = {};    ///< of the tiersim that makes the page
  std::string vega = {};       ///< source of the Vega bundle; empty: static drawings
  std::size_t rows_max = 200;  ///< rows of the table without scripts
  ChartChoice choice = {};     ///< which the reader can change
};

/// The same table and page give the same bytes. The table has at least one point.
std::string points_page(const PointTable& table, const PointsPage& page);

}  // namespace tiersim
