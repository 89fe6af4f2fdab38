#pragma once
// Belady's optimum (A study of replacement algorithms for a virtual-storage computer, IBM Systems
// Journal 5(2), 1966): what is used again last leaves, and a visit that comes again later than all
// entries is not admitted. It needs the future, so it is a bound for known traces.
#include "workloads/eviction/eviction_policy.hpp"

namespace tiersim {
void register_belady(Registry<EvictionKind>& registry);
}  // namespace tiersim
