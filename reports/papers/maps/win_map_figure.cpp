#include <algorithm>

#include <fmt/format.h>

#include "reports/papers/maps/win_map_view.hpp"
#include "reports/render/category_map.hpp"

namespace tiersim {
namespace {

constexpr double kPalest = 0.35;  // strength of a tie
// Wider leads have the same strength, and the notes show them
constexpr double kDeepestMargin = 1.0 / 3;

MapCell cell_of(const std::optional<Win>& won) {
  if (!won) return {};
  MapCell cell{.category = won->way};
  if (won->tie) {
    cell.tied = won->next;
    cell.strength = kPalest;
  } else if (won->next) {
    cell.strength = std::min(1.0, kPalest + (1 - kPalest) * won->margin / kDeepestMargin);
    cell.note = lead_text(won->margin);
  } else {
    cell.note = "alone";
  }
  return cell;
}

}  // namespace

std::string WinMapView::subtitle() const {
  return fmt::format(
      "Most tokens a second at the same context and batch; below the letter by how much before "
      "the next; two letters: less than {:.0f} % apart; alone: no other fits. Panels across: {}; "
      "down: {}.",
      100 * map_.tie, map_.column_title, map_.row_title);
}

std::string WinMapView::figure() const {
  CategoryMap out{.title = title(),
                  .subtitle = subtitle(),
                  .x_label = "context (positions)",
                  .y_label = "batch (sequences)",
                  .x_ticks = {},
                  .y_ticks = {},
                  .columns = {},
                  .rows = {},
                  .categories = {},
                  .empty = "none fits",
                  .panels = {}};
  for (const std::int64_t context : map_.contexts) out.x_ticks.push_back(positions_text(context));
  for (const std::int64_t batch : map_.batches) out.y_ticks.push_back(fmt::format("{}", batch));
  for (const StudyVariant& column : map_.columns) out.columns.push_back(column.label);
  for (const StudyVariant& row : map_.rows) out.rows.push_back(row.label);
  // The category that is left out keeps its index, so that colours agree in both maps.
  for (std::size_t w = 0; w < map_.ways.size(); ++w)
    out.categories.push_back({w == without_ ? "" : map_.ways[w].label, map_.ways[w].letter});
  const std::vector line(map_.contexts.size(), MapCell{});
  const MapPanel empty(map_.batches.size(), line);
  out.panels.assign(map_.rows.size(), std::vector(map_.columns.size(), empty));
  each([&](std::size_t r, std::size_t c, std::size_t b, std::size_t x) {
    out.panels[r][c][b][x] = cell_of(win(r, c, b, x));
  });
  return to_svg(out);
}

}  // namespace tiersim
