#pragma once
// Rules across the fields of a scenario, for both kinds of configuration: a single step
// (scenario.cpp) and a server, whose steps have no fixed kind, batch or context
// (serving/serving_config.cpp). Each rule reports at the keys of its mapping.
#include <string>

#include "sim/step/scenario.hpp"

namespace tiersim {

/// The tiers exist, and the near one is the GPU's own memory.
void check_placement(Fields& f, const ScenarioConfig& c);
/// The GPUs of a replica can share the model, and lie on one host.
void check_replica(Fields& f, const ScenarioConfig& c);
/// The system has a network for this purpose; a mistake is reported at `key`.
void check_fabric(Fields& f, const ScenarioConfig& c, Fabric purpose, const std::string& key);
/// Context ranks have a network, and a method whose rows they can share; of a step, also enough
/// positions.
void check_context_ranks(Fields& f, const ScenarioConfig& c);
void check_context(Fields& f, const ScenarioConfig& c);
/// The method's settings suit one GPU's part of the model in this step.
void check_method(Fields& f, const ScenarioConfig& c, const StepConfig& step);
/// Positions that a prefill finds in the cache are fewer than all, and can be there.
void check_cached(Fields& f, const ScenarioConfig& c);
void check_latent(Fields& f, const ScenarioConfig& c);
void check_types_and_experts(Fields& f, const ScenarioConfig& c);
void check_states(Fields& f, const ScenarioConfig& c);
/// Speculation fits model, method and sharing; of a step, also its order of operations.
void check_speculation(Fields& f, const ScenarioConfig& c);
void check_step_speculation(Fields& f, const ScenarioConfig& c);
void check_what_if(Fields& f, const ScenarioConfig& c);
/// MLPs on GPUs of their own: hardware that reaches them, and nothing beside that is not modelled.
void check_ffn(Fields& f, const ScenarioConfig& c);
/// The batch of a step has a sequence for each micro-batch.
void check_ffn_batch(Fields& f, const ScenarioConfig& c);

}  // namespace tiersim
