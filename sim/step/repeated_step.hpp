#pragma once
// Runs of scenarios that differ only in the values of some numbers, as the points of a sweep do.
// What these numbers do not change is made once: the system, the GPU with its fitted kernels, and
// the classes of the configuration's numbers.
//
//   RepeatedStep step(changed);                       // one a thread
//   for (const ScenarioConfig& config : points) use(step.record(config, Evaluation::analytic));
#include <map>
#include <memory>
#include <vector>

#include "sim/config/changed_keys.hpp"
#include "sim/step/number_uses.hpp"
#include "sim/step/simulate.hpp"

namespace tiersim {

class RepeatedStep;

/// The same as simulate() without `repeated`, which may be null, and with these results.
Expected<Simulation> simulate(const ScenarioConfig& config, Evaluation evaluation,
                              Provenance provenance, Results results, RepeatedStep* repeated);

/// Memory for the operations of the next run, which steps of one thread may share.
using StepRoom = std::shared_ptr<std::vector<Op>>;

class RepeatedStep {
 public:
  /// Keys of the numbers that differ.
  explicit RepeatedStep(const ChangedKeys& changed,
                        StepRoom room = std::make_shared<std::vector<Op>>());

  /// The result of simulate(config, evaluation, Provenance::classes).
  Expected<Simulation> simulate(const ScenarioConfig& config, Evaluation evaluation);
  /// Its record.
  Expected<RunRecord> record(const ScenarioConfig& config, Evaluation evaluation,
                             Results results = Results::all);

 private:
  friend Expected<Simulation> simulate(const ScenarioConfig& config, Evaluation evaluation,
                                       Provenance provenance, Results results,
                                       RepeatedStep* repeated);

  std::shared_ptr<const System> system_of(const ScenarioConfig& config);

  bool keeps_gpu_;
  bool keeps_system_;  // where what_if and placement are the same, too
  std::shared_ptr<const ComputeUnit> gpu_;
  std::shared_ptr<const System> system_;
  WhatIfConfig what_if_;  // of system_
  PlacementConfig placement_;
  TimeClasses classes_;
  StepRoom room_;
};

}  // namespace tiersim
