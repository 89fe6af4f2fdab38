#include "sim/step/repeated_step.hpp"

#include <utility>

namespace tiersim {
namespace {

bool changes_system(const ChangedKeys& changed) {
  return changed.whole() || changed.find("system") != nullptr || changed.find("ffn") != nullptr;
}

bool changes_gpu(const ChangedKeys& changed) {
  if (!changes_system(changed)) return false;
  const ChangedKeys* system = changed.find("system");
  return system == nullptr || system->whole() || system->find("gpu") != nullptr;
}

}  // namespace

RepeatedStep::RepeatedStep(const ChangedKeys& changed, StepRoom room)
    : keeps_gpu_(!changes_gpu(changed)),
      keeps_system_(!changes_system(changed)),
      room_(std::move(room)) {}

std::shared_ptr<const System> RepeatedStep::system_of(const ScenarioConfig& config) {
  if (keeps_system_ && system_ && what_if_ == config.what_if && placement_ == config.placement)
    return system_;
  auto system = std::make_shared<const System>(build_system(config, gpu_));
  if (keeps_gpu_) gpu_ = system->compute();
  if (!keeps_system_) return system;
  what_if_ = config.what_if;
  placement_ = config.placement;
  return system_ = std::move(system);
}

Expected<Simulation> RepeatedStep::simulate(const ScenarioConfig& config, Evaluation evaluation) {
  return tiersim::simulate(config, evaluation, Provenance::classes, Results::all, this);
}

Expected<RunRecord> RepeatedStep::record(const ScenarioConfig& config, Evaluation evaluation,
                                         Results results) {
  auto run = tiersim::simulate(config, evaluation, Provenance::classes, results, this);
  if (!run) return Unexpected(run.error());
  Simulation simulation = *std::move(run);
  *room_ = std::move(simulation.graph.ops);
  return std::move(simulation.record);
}

}  // namespace tiersim
