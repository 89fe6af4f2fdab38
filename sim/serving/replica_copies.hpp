#pragma once
// Parts of copies of blocks, for replica_moves.cpp and replica_handover.cpp.
#include <cstdint>
#include <vector>

#include "sim/serving/replica.hpp"

namespace tiersim {

/// bytes / parts, rounded up to a byte.
inline Bytes part_of(Bytes bytes, std::int64_t parts) {
  return Bytes::from_base((bytes.in_base() + parts - 1) / parts);
}

/// The work of one of `gpus` GPUs at its own speed, as the load of the one that stands for all.
inline OpPlan spread(OpPlan plan, std::int64_t gpus, const System& system) {
  if (gpus == 1) return plan;
  plan.min_duration = plan.uncontended(system.channels()) - plan.setup;
  for (ChannelCharge& charge : plan.charges) charge.busy = part_of(charge.busy, gpus);
  for (DeviceTraffic& traffic : plan.traffic) {
    traffic.payload = part_of(traffic.payload, gpus);
    traffic.moved = part_of(traffic.moved, gpus);
  }
  return plan;
}

/// The contiguous bytes of a copy of blocks, by TierId.
inline const std::vector<Bytes>& runs_of(const ServingParts& pool) {
  const bool pages = pool.config.server.kv.memory_layout == MemoryLayout::page_first;
  return pages ? pool.layout.cached_bytes : pool.layout.run_bytes;
}

}  // namespace tiersim
