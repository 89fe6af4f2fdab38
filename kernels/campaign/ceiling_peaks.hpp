// Measured ceilings of the device, from the timings of the ceilings stage.
#pragma once
#include "kernels/campaign/json.hpp"
#include "kernels/campaign/physics.hpp"

namespace tiersim::kernels::bench {

// The best median rate of each kind in a ceilings document, as soft peaks named memory, link_read,
// link_write and flops.bf16. The source of each peak is the case that reached it. A null value
// gives none.
Peaks measured_ceilings(const Json& document);

}  // namespace tiersim::kernels::bench
