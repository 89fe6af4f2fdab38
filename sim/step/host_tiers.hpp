#pragma once
// Tiers that belong to a GPU's host: behind PCIe and a root complex, or behind NVLink-C2C alone.
#include <optional>
#include <string>

#include "sim/step/system_config.hpp"

namespace tiersim {

bool is_of_the_host(const SystemConfig& system, const TierConfig& tier);
/// The tier that is the DRAM of the host's CPUs. That is `preferred` if it qualifies. Otherwise it
/// is the only tier that does; none if no tier or several qualify.
std::optional<std::string> host_memory(const SystemConfig& system, const std::string& preferred);

}  // namespace tiersim
