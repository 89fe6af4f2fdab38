#pragma once
// The numerical study of tensor-parallel latent attention (TPLA): which of its statements hold to
// rounding, and how large the errors of slicing are by transform and number of slices. A few
// seconds.
#include <cstdint>
#include <vector>

#include "workloads/numerics/study.hpp"

namespace tiersim::numerics {

Study tpla_study(std::uint64_t seed);

/// Its statements alone, from less: equalities on the latent of 64, orderings for two slices over
/// fewer of the same seeds. A quarter of the time.
std::vector<Statement> tpla_statements(std::uint64_t seed);

}  // namespace tiersim::numerics
