#pragma once
// LRU: what was used longest ago leaves. It is what vLLM, SGLang and LMCache do by default.
#include "workloads/eviction/eviction_policy.hpp"

namespace tiersim {
void register_lru(Registry<EvictionKind>& registry);
}  // namespace tiersim
