#pragma once
// Runs of scenarios that differ only in the values of some numbers, as the points of a sweep do.
// What these numbers do not change is made once: the GPU with its fitted kernels, and the classes
// of the configuration's numbers.
//
//   RepeatedStep step(changed);                       // one a thread
//   for (const ScenarioConfig& config : points) use(step.simulate(config, Evaluation::analytic));
#include <memory>

#include "sim/config/changed_keys.hpp"
#include "sim/step/number_uses.hpp"
#include "sim/step/simulate.hpp"

namespace tiersim {

class RepeatedStep;

/// The same as simulate() without `repeated`, which may be null.
Expected<Simulation> simulate(const ScenarioConfig& config, Evaluation evaluation,
                              Provenance provenance, RepeatedStep* repeated);

class RepeatedStep {
 public:
  /// Keys of the numbers that differ.
  explicit RepeatedStep(const ChangedKeys& changed);

  /// The result of simulate(config, evaluation, Provenance::classes).
  Expected<Simulation> simulate(const ScenarioConfig& config, Evaluation evaluation);

 private:
  friend Expected<Simulation> simulate(const ScenarioConfig& config, Evaluation evaluation,
                                       Provenance provenance, RepeatedStep* repeated);

  bool keeps_gpu_;
  std::shared_ptr<const ComputeUnit> gpu_;
  TimeClasses classes_;
};

}  // namespace tiersim
