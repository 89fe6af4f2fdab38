#pragma once
// How well methods choose rows, for the figure that shows it beside their speed.
#include <future>
#include <vector>

#include "reports/papers/figures/paper_figures.hpp"

namespace tiersim {

/// Starts the study of synthetic heads of `tiersim numerics maple`, with its default seed, beside
/// everything else: it takes about five seconds of one core and shares nothing with simulations.
std::future<std::vector<RecallPoint>> start_recall();

}  // namespace tiersim
