#pragma once
// What came of a speed-up grid: every cell of every case, and the section of the report about it.
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
  std::vector<GridCell> cells;  ///< host fastest, then batch, projection, region, tiles, machine

  bool near(const GridCell& cell, std::size_t which) const;
  /// Near in every case at once: one set of conditions that explains all that is printed.
  bool near_all(const GridCell& cell) const;
};

/// Printed ratios are `explained` where some cell is near all of them, else `unexplained`; cells
/// worked out by hand pass or fail; and that factors multiply to their ratio.
ReportSection section_of(const GridResult& result);

}  // namespace tiersim
