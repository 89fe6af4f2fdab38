#pragma once
// The page of `tiersim report html`: points, what they were made of, and how each is run again.
// Whole without scripts: summary, drawings, the front and the first rows of the table. With scripts
// also filters, the whole table sorted by any column, and a picked point with its settings; with
// Vega (sim/cmake/TiersimVega.cmake) the drawings interact.
#include <string>

#include "reports/points/point_table.hpp"

namespace tiersim {

struct PointsPage {
  std::string version = {};    ///< of the tiersim that makes the page
  std::string vega = {};       ///< text of its bundle; without it drawings stand still
  std::size_t rows_max = 200;  ///< of the table that needs no script
};

/// The same table and page give the same bytes. At least one point.
std::string points_page(const PointTable& table, const PointsPage& page);

}  // namespace tiersim
