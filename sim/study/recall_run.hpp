#pragma once
// Recall of the rows that methods select, for the figure that shows it beside their speed.
#include <future>
#include <vector>

#include "reports/papers/figures/paper_figures.hpp"

namespace tiersim {

/// The points of `tiersim numerics maple`, with its default seed, that the figure shows. The other
/// measurements of that study are not made.
std::vector<RecallPoint> recall_points();

/// Starts recall_points() in parallel to all other work, since it shares nothing with simulations.
std::future<std::vector<RecallPoint>> start_recall();

}  // namespace tiersim
