#pragma once
// The top of a page whose sweep has a `summary`: the best label of an axis by each objective, what
// each costs, and the break-even of each where the sweep asks for it.
#include <string>

#include "reports/html/page.hpp"
#include "reports/html/points_view.hpp"

namespace tiersim {

/// Does nothing for a table without a summary.
void add_best(Page& page, const PointTable& table, const PointsView& view);
/// All that compete, with the answers to the question of break-even where the sweep asks it, as
/// tables and as a drawing. Does nothing for a table without a summary.
void add_break_even(Page& page, const PointTable& table, const PointsView& view);

/// "155 GB/s [135 GB/s, 170 GB/s], 4.39 times"; "never [87.6 GB/s, beyond 3.52 TB/s]" where some
/// draws find a value. Values of the setting itself where no channel is known.
std::string break_even_text(const BreakEvenRecord& answer);

}  // namespace tiersim
