#pragma once
// The rates of every cell of a win map, and its section of a report: the figure, a table of
// winners, and every rate. It reads rates only.
#include <cstdint>
#include <optional>
#include <vector>

#include "reports/papers/maps/win_map.hpp"
#include "reports/papers/reproduce/section.hpp"

namespace tiersim {

/// Tokens/s of every way in one cell; none where the way does not fit.
using CellRates = std::vector<std::optional<double>>;

struct WinMapResult {
  WinMap map;
  /// Indexed by row of panels, column of panels, batch and context, in the order of the map.
  std::vector<std::vector<std::vector<std::vector<CellRates>>>> rates;

  /// Sized for the map, with no rate in any cell.
  explicit WinMapResult(WinMap of);
};

/// The fastest way in a cell.
struct Win {
  std::size_t way = 0;
  std::optional<std::size_t> next = {};  ///< the second fastest way; none where no other fits
  double margin = 0;                     ///< ratio of the two rates less 1; 0 without a second
  bool tie = false;                      ///< the margin is below that of the map
};
/// None where nothing fits. Of equal rates the first way in the list wins. The way at `without` is
/// left out.
std::optional<Win> win_of(const WinMap& map, const CellRates& rates,
                          std::optional<std::size_t> without = {});

/// Tables, figures and rows for programs. Where the map states `without`, the second map follows.
ReportSection section_of(const WinMapResult& result);

}  // namespace tiersim
