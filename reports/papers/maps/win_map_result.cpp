#include "reports/papers/maps/win_map_result.hpp"

#include <utility>

namespace tiersim {

WinMapResult::WinMapResult(WinMap of) : map(std::move(of)) {
  const CellRates cell(map.ways.size());
  const std::vector across(map.contexts.size(), cell);
  const std::vector panel(map.batches.size(), across);
  rates.assign(map.rows.size(), std::vector(map.columns.size(), panel));
}

std::optional<Win> win_of(const WinMap& map, const CellRates& rates,
                          std::optional<std::size_t> without) {
  std::optional<std::size_t> first;
  std::optional<std::size_t> second;
  for (std::size_t way = 0; way < rates.size(); ++way) {
    if (!rates[way] || way == without) continue;
    if (!first || *rates[way] > *rates[*first]) {
      second = std::exchange(first, way);
    } else if (!second || *rates[way] > *rates[*second]) {
      second = way;
    }
  }
  if (!first) return std::nullopt;
  Win win{.way = *first, .next = second};
  if (!second) return win;
  win.margin = *rates[*first] / *rates[*second] - 1;
  win.tie = win.margin < map.tie;
  return win;
}

}  // namespace tiersim
