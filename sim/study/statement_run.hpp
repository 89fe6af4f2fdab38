#pragma once
// Compares a paper's statements about numerics with a numerical study.
#include <future>
#include <vector>

#include "reports/papers/reproduce/section.hpp"
#include "reports/papers/reproduce/targets.hpp"

namespace tiersim {

/// Starts in parallel to all other work, since it shares nothing with simulations and takes about a
/// second of one core. Empty if the targets have no `numerics`. The future throws Failure if a
/// study or statement is missing.
std::future<std::vector<ReportSection>> start_numerics(const Targets& targets);

}  // namespace tiersim
