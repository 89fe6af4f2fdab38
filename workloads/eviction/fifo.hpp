#pragma once
// FIFO: what came first leaves, however often it was used.
#include "workloads/eviction/eviction_policy.hpp"

namespace tiersim {
void register_fifo(Registry<EvictionKind>& registry);
}  // namespace tiersim
