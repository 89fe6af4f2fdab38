#pragma once
// The numerical study of tensor-parallel latent attention (TPLA): which of its statements hold to
// rounding, and how large the errors of slicing are by transform and number of slices. A few
// seconds.
#include <cstdint>

#include "workloads/numerics/study.hpp"

namespace tiersim::numerics {

Study tpla_study(std::uint64_t seed);

}  // namespace tiersim::numerics
