#pragma once
// A win map with what came of every cell, and its section of a report: the figure, a table of
// winners, and every rate. Knows rates only.
#include <cstdint>
#include <optional>
#include <vector>

#include "reports/papers/maps/win_map.hpp"
#include "reports/papers/reproduce/section.hpp"

namespace tiersim {

/// Tokens a second of every way in one cell; none where it does not fit.
using CellRates = std::vector<std::optional<double>>;

struct WinMapResult {
  WinMap map;
  /// By row of panels, column of panels, batch, context; each as the map lists them.
  std::vector<std::vector<std::vector<std::vector<CellRates>>>> rates;

  /// Sized for the map, with nothing that fits.
  explicit WinMapResult(WinMap of);
};

/// Who is fastest in a cell.
struct Win {
  std::size_t way = 0;
  std::optional<std::size_t> next = {};  ///< the second fastest, where another fits
  double margin = 0;                     ///< of the rates, less 1; 0 without a second
  bool tie = false;                      ///< the margin is below the map's
};
/// None where nothing fits. Of equal rates the way that stands first is `way`. The way at
/// `without` takes no part.
std::optional<Win> win_of(const WinMap& map, const CellRates& rates,
                          std::optional<std::size_t> without = {});

/// Tables, figures and rows for programs; where the map says `without`, with the second map.
ReportSection section_of(const WinMapResult& result);

}  // namespace tiersim
