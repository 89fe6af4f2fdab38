#pragma once
// Every device kind of this folder, by name. A value, built on request: no global registry.
#include "sim/model/device_spec.hpp"

namespace tiersim {

DeviceLibrary make_device_library();

}  // namespace tiersim
