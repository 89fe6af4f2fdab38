#pragma once
// Recall of the rows that methods select, for the figure that shows it beside their speed.
#include <future>
#include <vector>

#include "reports/papers/figures/paper_figures.hpp"

namespace tiersim {

/// Starts the study of synthetic heads of `tiersim numerics maple`, with its default seed, in
/// parallel to all other work: it takes about five seconds of one core and shares nothing with
/// simulations.
std::future<std::vector<RecallPoint>> start_recall();

}  // namespace tiersim
