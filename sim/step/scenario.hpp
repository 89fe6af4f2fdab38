#pragma once
// One simulation as YAML describes it (`schema: tiersim.scenario/v1`): a system, a model, a step, a
// KV method and the placement of its tensors.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/step/ffn_config.hpp"
#include "sim/step/system.hpp"
#include "sim/step/system_config.hpp"
#include "workloads/attention/method.hpp"
#include "workloads/llm/llm_config.hpp"
#include "workloads/llm/speculation.hpp"
#include "workloads/llm/step_config.hpp"

namespace tiersim {

struct MethodConfig {
  std::string name;
  std::shared_ptr<Method> method;  ///< copies share it; nothing is read into a copy
};
void describe(Fields& f, MethodConfig& c);

struct PlacementConfig {
  std::string near;
  std::string far;
  double near_share = 1;                   ///< of the near tier's capacity that the step may fill
  std::optional<FarWeights> weights = {};  ///< none: all are near

  friend bool operator==(const PlacementConfig&, const PlacementConfig&) = default;
};
void describe(Fields& f, PlacementConfig& c);

/// Factors on the configured hardware, for what-if questions.
struct WhatIfConfig {
  double far_bandwidth = 1;  ///< on all capacities on the path to the far tier
  double far_latency = 1;    ///< on the latency of every device on that path

  friend bool operator==(const WhatIfConfig&, const WhatIfConfig&) = default;
};
void describe(Fields& f, WhatIfConfig& c);

/// The propagation of the numbers' intervals through the run. 180 draws resolve the ends of an
/// interval: the fifth-smallest result stands for the 2.5 % quantile.
struct UncertaintyConfig {
  std::int64_t draws = 180;
  std::int64_t seed = 1;
};
void describe(Fields& f, UncertaintyConfig& c);

struct ScenarioConfig {
  std::string name;
  std::string description;
  SystemConfig system;
  LlmConfig model;
  StepConfig step;
  MethodConfig method;
  PlacementConfig placement;
  ParallelConfig parallel;
  AttentionKernelConfig attention_kernel;
  ExecutionConfig execution;
  std::optional<HandoverConfig> handover;  ///< for a prefill
  std::optional<FfnConfig> ffn = {};       ///< GPUs of their own for MLPs and experts
  std::optional<SpeculationConfig> speculation = {};
  WhatIfConfig what_if;
  std::optional<UncertaintyConfig> uncertainty;  ///< missing: the defaults
};
void describe(Fields& f, ScenarioConfig& c);

/// The system of one kind of GPUs. The paths of its numbers, and the names of its devices in
/// results, begin with `prefix`.
struct RoleConfig {
  const SystemConfig& system;
  std::string_view prefix;  ///< kFfnPrefix, or empty
};
/// Requires `config.ffn` for GpuRole::ffn.
RoleConfig config_of(const ScenarioConfig& config, GpuRole role);
/// The kinds of GPUs that the scenario has.
std::span<const GpuRole> roles_of(const ScenarioConfig& config);

/// The hardware, with the factors of `what_if`: the whole system, or the part that one pipeline
/// stage of a replica uses. A replica without a pipeline is one stage. `gpu`: as of System.
System build_system(const ScenarioConfig& config, std::shared_ptr<const ComputeUnit> gpu = nullptr);
System build_stage_system(const ScenarioConfig& config);

/// The workload's view of a scenario: model and batch of a whole replica, and the largest number of
/// drafts. It refers to `config`.
AttentionContext context_of(const ScenarioConfig& config, const System& system);

/// Mean tokens that a step gives each sequence: 1 without speculation.
double tokens_of_step(const ScenarioConfig& config);

/// Number of replicas on the GPUs of the system, each with a step of its own.
std::int64_t replicas(const ScenarioConfig& config);

/// The scenario's step on the scenario's system. `room`: as of build_step(). `speculates`: false
/// for the step without speculation.
StepGraph build_graph(const ScenarioConfig& config, const System& system, std::vector<Op> room = {},
                      bool speculates = true);

/// Positions of a sequence whose keys the method keeps; fewer than the context if it drops some, or
/// if the model attends within a window.
std::int64_t kept_positions(const ScenarioConfig& config, const System& system);

/// Largest batch of one replica whose tensors fit every tier; 0 if not even one sequence fits.
std::int64_t largest_batch(const ScenarioConfig& config, const System& system);

}  // namespace tiersim
