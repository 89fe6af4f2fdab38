#pragma once
// The registry of every device kind of this folder, by name. It is a value that is built on
// request; there is no global registry.
#include "sim/model/device_spec.hpp"

namespace tiersim {

DeviceLibrary make_device_library();

}  // namespace tiersim
