#pragma once
// One simulation as YAML describes it (`schema: tiersim.scenario/v1`): a system, a model, a step, a
// KV method and where its tensors go.
#include <memory>
#include <string>

#include "sim/run/system.hpp"
#include "sim/run/system_config.hpp"
#include "workloads/attention/method.hpp"
#include "workloads/llm/llm_config.hpp"
#include "workloads/llm/step_config.hpp"

namespace tiersim {

struct MethodConfig {
  std::string name;
  std::unique_ptr<Method> method;
};
void describe(Fields& f, MethodConfig& c);

struct PlacementConfig {
  std::string near;
  std::string far;
};
void describe(Fields& f, PlacementConfig& c);

struct ScenarioConfig {
  std::string name;
  std::string description;
  SystemConfig system;
  LlmConfig model;
  StepConfig step;
  MethodConfig method;
  PlacementConfig placement;
};
void describe(Fields& f, ScenarioConfig& c);

/// The scenario's step on the scenario's system.
StepGraph build_graph(const ScenarioConfig& config, const System& system);

/// Largest batch whose tensors fit every tier; 0 when not even one sequence fits.
std::int64_t largest_batch(const ScenarioConfig& config, const System& system);

}  // namespace tiersim
