#pragma once
// A scenario from configuration to record.
#include <memory>

#include "sim/record/run_record.hpp"
#include "sim/step/accounting.hpp"
#include "sim/step/bound.hpp"
#include "sim/step/executor.hpp"
#include "sim/step/scenario.hpp"

namespace tiersim {

/// The parts of a record that are computed.
enum class Evaluation : std::uint8_t {
  accounting,  ///< footprint and traffic; needs no tier to be large enough
  analytic,  ///< also the bound, by closed forms alone; from here on every tier must hold its part
  times,     ///< also the engine
  all,       ///< also the interval of every time, where a number that it rests on has one
};

/// How much a record says of where it comes from.
enum class Provenance : std::uint8_t {
  full,     ///< configuration, run id, every sourced number
  classes,  ///< no more than the classes of its metrics; the caller knows the rest
};

/// Everything one run is made of, for traces and tests beside the record.
struct Simulation {
  std::unique_ptr<System> system;
  StepGraph graph;
  std::vector<OpPlan> plans;
  Accounting accounting;
  Bound bound;
  Execution execution;
  RunRecord record;
};

/// Runs a scenario. The error is what does not fit where, and the largest batch that would; or
/// which draw from the intervals of its numbers cannot run.
Expected<Simulation> simulate(const ScenarioConfig& config, Evaluation evaluation,
                              Provenance provenance = Provenance::full);

}  // namespace tiersim
