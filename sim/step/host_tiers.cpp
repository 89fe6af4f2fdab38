#include "sim/step/host_tiers.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace tiersim {

bool is_of_the_host(const SystemConfig& system, const TierConfig& tier) {
  const std::vector<std::string>& path = tier.path;
  const auto is = [&](std::size_t at, std::string_view kind) {
    const auto link = system.links.find(path[at]);
    return link != system.links.end() && link->second.kind == kind;
  };
  return path.size() == 1 ? is(0, "nvlink") : path.size() == 2 && is(0, "pcie") && is(1, "hop");
}

std::optional<std::string> host_memory(const SystemConfig& system, const std::string& preferred) {
  std::optional<std::string> found;
  std::size_t count = 0;
  for (const auto& [name, tier] : system.tiers) {
    if (tier.memory.kind != "dram" || !is_of_the_host(system, tier)) continue;
    if (name == preferred) return name;
    found = name;
    ++count;
  }
  return count == 1 ? found : std::nullopt;
}

}  // namespace tiersim
