#pragma once
// The numerical study of tensor-parallel latent attention (TPLA): the statements that hold to
// rounding, and the errors of slicing by transform and number of slices. It takes a few seconds.
#include <cstdint>
#include <vector>

#include "workloads/numerics/study.hpp"

namespace tiersim::numerics {

Study tpla_study(std::uint64_t seed);

/// The statements alone, from smaller runs: equalities on the latent of 64, orderings for two
/// slices over fewer of the same seeds. It takes a quarter of the time.
std::vector<Statement> tpla_statements(std::uint64_t seed);

}  // namespace tiersim::numerics
