#pragma once
// How the GPUs of a replica share its model, in a few words.
#include <string>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// "tensor 4, 2 latent slices, pipeline 2"; "-" of one GPU.
std::string sharing_text(const DeviceRecord& device);

}  // namespace tiersim
