#pragma once
// GDSF (Cherkasova, HP Labs report HPL-98-69R1, 1998): the entry with the least
//   H = L + uses * cost / blocks
// leaves, and L becomes its H, so that what is not used again grows old. `cost` is the time to
// compute the entry again, the largest that any visit gave: then no block of a prompt has a smaller
// H than those after it, as long as every visit gives them in falling order of cost.
#include "workloads/eviction/eviction_policy.hpp"

namespace tiersim {
void register_gdsf(Registry<EvictionKind>& registry);
}  // namespace tiersim
