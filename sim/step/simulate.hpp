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
  accounting,  ///< footprint and traffic; tiers may be too small
  analytic,    ///< also the bound, in closed form; every tier must hold its part from here on
  times,       ///< also the engine
  all,         ///< also the interval of every time behind which a number has one
};

/// The extent of a record's provenance.
enum class Provenance : std::uint8_t {
  full,           ///< configuration, run id, every sourced number
  configuration,  ///< configuration and run id, without the sourced numbers
  classes,        ///< only the classes of its metrics; the caller knows the rest
};

/// The extent of a record's results.
enum class Results : std::uint8_t {
  all,
  metrics,  ///< without the tables of bytes, weights and room
};

/// All parts of one run, for traces and tests besides the record.
struct Simulation {
  std::shared_ptr<const System> system;
  StepGraph graph;
  OpPlans plans;
  Accounting accounting;
  Bound bound;
  Execution execution;
  RunRecord record;
};

/// Runs a scenario. The error names the tier that is too small and the largest batch that would
/// fit, or the draw from the intervals of its numbers that cannot run.
Expected<Simulation> simulate(const ScenarioConfig& config, Evaluation evaluation,
                              Provenance provenance = Provenance::full);

}  // namespace tiersim
