#pragma once
// Mistakes of a server about the tiers below the pool of KV blocks.
#include <string>

#include "sim/config/fields.hpp"
#include "sim/serving/serving_config.hpp"

namespace tiersim {

/// Compares the room asked of a tier with the part of one replica, or of all. It passes without the
/// tier, or if its capacity is out of range, both of which are reported elsewhere.
void check_room(Fields& f, const ScenarioConfig& c, const std::string& tier, Bytes asked,
                const std::string& key, bool by_all = false);
/// The tiers that keep prompts, their blocks, and what is loaded from them and kept beside them.
void check_lower_tiers(Fields& f, const ServingConfig& c);

}  // namespace tiersim
