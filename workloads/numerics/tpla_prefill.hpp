#pragma once
// Prefill and decode separated: prefill runs the transformed layers unsliced, and decode reads the
// cache it left in slices. Source: TPLA, sections 4.5, 5.1 and 5.4.2.
#include <cstdint>

#include "workloads/numerics/study.hpp"

namespace tiersim::numerics {

/// A stack of layers with PCA; error of what decode gives, with the prompt prefilled exactly or in
/// slices, for 2, 4 and 8 slices over `count` seeds. Adds a table, a curve and the statements.
void add_prefill_study(std::uint64_t seed, int count, Study& study);

}  // namespace tiersim::numerics
