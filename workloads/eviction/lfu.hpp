#pragma once
// LFU: what was used least often since it came leaves, the least recently used first among equals.
#include "workloads/eviction/eviction_policy.hpp"

namespace tiersim {
void register_lfu(Registry<EvictionKind>& registry);
}  // namespace tiersim
