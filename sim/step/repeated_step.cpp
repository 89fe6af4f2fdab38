#include "sim/step/repeated_step.hpp"

namespace tiersim {
namespace {

bool changes_gpu(const ChangedKeys& changed) {
  if (changed.whole()) return true;
  const ChangedKeys* system = changed.find("system");
  return system != nullptr && (system->whole() || system->find("gpu") != nullptr);
}

}  // namespace

RepeatedStep::RepeatedStep(const ChangedKeys& changed) : keeps_gpu_(!changes_gpu(changed)) {}

Expected<Simulation> RepeatedStep::simulate(const ScenarioConfig& config, Evaluation evaluation) {
  return tiersim::simulate(config, evaluation, Provenance::classes, this);
}

}  // namespace tiersim
