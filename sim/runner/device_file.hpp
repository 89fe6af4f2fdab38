#pragma once
// A file of configs/devices: a device of any interface, which its `model` determines.
#include <memory>
#include <string>

#include "sim/config/fields.hpp"
#include "sim/model/device_costs.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

/// Only the specification of the kind's interface is present.
struct DeviceFile {
  std::string kind;
  std::unique_ptr<DeviceSpec<MemoryTier>> memory;
  std::unique_ptr<DeviceSpec<Link>> link;
  std::unique_ptr<DeviceSpec<Requester>> request;
  std::unique_ptr<DeviceSpec<ComputeUnit>> compute;
  std::unique_ptr<DeviceSpec<Collective>> collective;
  DeviceCosts costs;
  ComputePower power;  ///< of a compute unit

  /// "memory", "link", "request" or "compute".
  std::string category() const;
};
void describe(Fields& f, DeviceFile& c);

}  // namespace tiersim
