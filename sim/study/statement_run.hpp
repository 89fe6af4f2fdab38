#pragma once
// A paper's statements about numerics, held to a numerical study.
#include <future>
#include <vector>

#include "reports/papers/reproduce/section.hpp"
#include "reports/papers/reproduce/targets.hpp"

namespace tiersim {

/// Starts beside everything else, since it shares nothing with simulations and takes about a second
/// of one core. No section where the targets have no `numerics`. The future throws Failure where a
/// study or statement is not there.
std::future<std::vector<ReportSection>> start_numerics(const Targets& targets);

}  // namespace tiersim
