#pragma once
// S3-FIFO (Yang et al., FIFO queues are all you need for cache eviction, SOSP 2023, algorithm 1):
// new entries go to a small queue of a tenth of the room. Its oldest one moves to the main queue
// if it was used more than once, else it leaves, and its name is kept in a ghost queue as long as
// the main one. An entry whose name is there goes to the main queue at once, where the oldest one
// stays for another round for each of its last uses, of which three are counted.
#include "workloads/eviction/eviction_policy.hpp"

namespace tiersim {
void register_s3_fifo(Registry<EvictionKind>& registry);
}  // namespace tiersim
