#pragma once
// The numerical study of early exit: depths of batches by measure and threshold, the effect of
// filled caches of skipped layers, and the statements of Algorithm 1. It takes about a second.
#include <cstdint>

#include "workloads/numerics/study.hpp"

namespace tiersim::numerics {

Study early_exit_study(std::uint64_t seed);

}  // namespace tiersim::numerics
