// What the ceilings' timings say of the device.
#pragma once
#include "kernels/campaign/json.hpp"
#include "kernels/campaign/physics.hpp"

namespace tiersim::kernels::bench {

// The best median rate of each kind in a ceilings document (a null value gives none): soft peaks
// named memory, link_read, link_write, flops.bf16, each with the case that reached it as its
// source.
Peaks measured_ceilings(const Json& document);

}  // namespace tiersim::kernels::bench
