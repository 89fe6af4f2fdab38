#include <algorithm>

#include <fmt/format.h>

#include "reports/papers/maps/win_map_view.hpp"
#include "reports/render/figure_svg.hpp"

namespace tiersim {
namespace {

constexpr double kPalest = 0.35;  // strength of a tie
// Wider leads have the same strength, and the notes show them
constexpr double kDeepestMargin = 1.0 / 3;

FigureCell cell_of(const std::optional<Win>& won) {
  if (!won) return {};
  FigureCell cell{.category = won->way};
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
  Figure out{.stem = stem(),
             .title = title(),
             .subtitle = subtitle(),
             .columns = map_.columns.size(),
             .panels = {},
             .empty = "none fits"};
  FigurePanel panel{.x = {.label = "context (positions)"}, .y = {.label = "batch (sequences)"}};
  for (const std::int64_t context : map_.contexts)
    panel.x.ticks.emplace_back(context, positions_text(context));
  for (const std::int64_t batch : map_.batches)
    panel.y.ticks.emplace_back(batch, fmt::format("{}", batch));
  panel.cells.assign(map_.batches.size(), std::vector<FigureCell>(map_.contexts.size()));
  for (const StudyVariant& row : map_.rows) {
    out.row_titles.push_back(row.label);
    for (const StudyVariant& column : map_.columns) {
      panel.title = column.label;
      out.panels.push_back(panel);
    }
  }
  // The category that is left out keeps its index, so that colours agree in both maps.
  for (std::size_t w = 0; w < map_.ways.size(); ++w)
    out.categories.push_back({w == without_ ? "" : map_.ways[w].label, map_.ways[w].letter});
  each([&](std::size_t r, std::size_t c, std::size_t b, std::size_t x) {
    out.panels[r * map_.columns.size() + c].cells[b][x] = cell_of(win(r, c, b, x));
  });
  return to_svg(out);
}

}  // namespace tiersim
