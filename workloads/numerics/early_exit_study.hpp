#pragma once
// The numerical study of early exit: how deep batches go by measure and threshold, what filling the
// cache of skipped layers does, and the statements of Algorithm 1. About a second.
#include <cstdint>

#include "workloads/numerics/study.hpp"

namespace tiersim::numerics {

Study early_exit_study(std::uint64_t seed);

}  // namespace tiersim::numerics
