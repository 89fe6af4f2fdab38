#pragma once
// Tiers that belong to a GPU's host: behind PCIe and a root complex, or behind NVLink-C2C alone.
#include <optional>
#include <string>

#include "sim/step/system_config.hpp"

namespace tiersim {

bool is_of_the_host(const SystemConfig& system, const TierConfig& tier);
/// The DRAM of the host's CPUs: `preferred` if that is one, else the one tier that is; none where
/// no tier or several are.
std::optional<std::string> host_memory(const SystemConfig& system, const std::string& preferred);

}  // namespace tiersim
