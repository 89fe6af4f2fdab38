#pragma once
// ARC (Megiddo and Modha, ARC: a self-tuning, low overhead replacement cache, FAST 2003): one list
// of entries used once, one of those used again, and for each the names of what left it. A visit of
// such a name moves the target length of the first list. Lengths are in blocks.
#include "workloads/eviction/eviction_policy.hpp"

namespace tiersim {
void register_arc(Registry<EvictionKind>& registry);
}  // namespace tiersim
