#pragma once
// SIEVE (Zhang et al., SIEVE is simpler than LRU, NSDI 2024): one queue in the order of arrival,
// and a hand that goes from the oldest entry to the newest and around. It takes the mark of a use
// from entries that have one, and the first that has none leaves.
#include "workloads/eviction/eviction_policy.hpp"

namespace tiersim {
void register_sieve(Registry<EvictionKind>& registry);
}  // namespace tiersim
