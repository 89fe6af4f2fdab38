#pragma once
// The parallelism of a replica in a few words.
#include <string>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// "tensor 4, 2 latent slices, pipeline 2"; "-" for one GPU.
std::string sharing_text(const DeviceRecord& device);

}  // namespace tiersim
