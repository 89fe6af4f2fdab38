#pragma once
// The kinds of hardware that a server has: one, or one that reads prompts (`prefill`) and one that
// answers.
#include <string>
#include <vector>

#include "sim/serving/serving_config.hpp"

namespace tiersim {

/// The replicas on one kind of hardware.
struct ServerPool {
  std::string name;      ///< "prefill", or empty for the system of the configuration itself
  ServingConfig config;  ///< with the system of this pool alone

  /// "prefill." before the names and paths of what belongs to it alone.
  std::string prefix() const { return name.empty() ? "" : name + "."; }
};

/// The pool that reads prompts comes first.
std::vector<ServerPool> pools_of(const ServingConfig& config);

/// The step of the pool that reads prompts, on its own system. Expects `config.prefill`.
ScenarioConfig prefill_scenario(const ServingConfig& config);

}  // namespace tiersim
