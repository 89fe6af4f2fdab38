#pragma once
// Sequences of kernels as a campaign states them before it runs them (JSON of schema
// tiersim.composition_plan/v1): what is launched, on which of two streams, after what, and what
// each launch moves and computes by formula.
#include <cstddef>
#include <string>
#include <vector>

#include "hwmodels/calibrate/read/timing.hpp"
#include "sim/config/diagnostics.hpp"

namespace tiersim {

/// A kernel of a sequence. `kernel` has no time; its name is the case's.
struct PlannedPart {
  TimingCase kernel;
  std::string timed_as;  ///< name of the case whose timing is this kernel's; may be empty
};

/// A launch. It follows the step before it on its stream, and those in `after`.
struct PlannedStep {
  std::size_t part = 0;
  std::size_t stream = 0;          ///< 0 or 1
  std::vector<std::size_t> after;  ///< earlier steps
};

struct PlannedSequence {
  std::string name;
  std::string missing;  ///< the case that it lacks: it cannot run, and has no parts
  std::vector<PlannedPart> parts;
  std::vector<PlannedStep> steps;
};

struct CompositionPlan {
  std::string build_id;
  std::vector<PlannedSequence> sequences;
};

/// `file` is for messages; mistakes go to `diagnostics`.
CompositionPlan read_composition_plan(const std::string& file, const std::string& text,
                                      Diagnostics& diagnostics);

}  // namespace tiersim
