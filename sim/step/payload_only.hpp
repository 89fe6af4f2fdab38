#pragma once
// The least that an access at packet level takes of its device's channels.
#include <algorithm>

#include "sim/model/device.hpp"

namespace tiersim {

/// The least use of the device's channels by the access: the moved bytes, once.
inline AccessCost payload_only(AccessCost cost) {
  Bytes widest = Bytes::from_base(1);
  for (const Charge& charge : cost.charges) widest = std::max(widest, charge.busy);
  const double share = std::min(1.0, cost.moved / widest);
  for (Charge& charge : cost.charges) charge.busy = scale_down(charge.busy, share);
  return cost;
}

}  // namespace tiersim
