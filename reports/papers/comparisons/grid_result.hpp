#pragma once
// The result of a speed-up grid: every cell of every case, and its section of the report.
#include <optional>
#include <string>
#include <vector>

#include "reports/papers/comparisons/comparison.hpp"
#include "reports/papers/reproduce/section.hpp"
#include "sim/record/speedup_record.hpp"

namespace tiersim {

/// One combination, with the positions of its choices in the grid's lists.
struct GridCell {
  std::size_t machine = 0;
  std::size_t tiles = 0;
  std::size_t region = 0;
  std::size_t output_projection = 0;
  std::size_t batch = 0;
  std::size_t host = 0;
  std::vector<std::optional<Speedup>> cases = {};  ///< none where not even one sequence fits
};

struct GridResult {
  SpeedupGrid grid;
  std::vector<std::string> machines;  ///< labels
  /// The host varies fastest, then batch, projection, region, tiles, machine
  std::vector<GridCell> cells;

  bool near(const GridCell& cell, std::size_t which) const;
  /// True where the cell is near in every case: one set of conditions explains all printed ratios.
  bool near_all(const GridCell& cell) const;
};

/// Printed ratios are `explained` where one cell is near all of them, else `unexplained`. Cells
/// worked out by hand pass or fail, and so does the product of the factors against the ratio.
ReportSection section_of(const GridResult& result);

}  // namespace tiersim
