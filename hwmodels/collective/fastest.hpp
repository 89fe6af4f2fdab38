#pragma once
// The choice of an algorithm as a library makes it: the one that ends first on an idle port.
#include <algorithm>
#include <optional>

#include "sim/model/device.hpp"

namespace tiersim {

/// Time of a collective that shares its port with no other flow, without link headers. Both
/// directions run at once, so the larger one counts.
inline Duration alone_time(const CollectiveCost& cost, const PortPath& port) {
  return cost.latency + std::max(std::max(cost.out, cost.in) / port.bandwidth, cost.min_duration);
}

/// Keeps the faster of the two; the earlier one where both take the same time.
inline void keep_fastest(std::optional<CollectiveCost>& best, const CollectiveCost& next,
                         const PortPath& port) {
  if (!best || alone_time(next, port) < alone_time(*best, port)) best = next;
}

}  // namespace tiersim
