#pragma once
// Sequences of kernels that a campaign plans before it runs them (JSON of schema
// tiersim.composition_plan/v1): each launch with its stream (one of two), its dependencies, and the
// bytes and FLOPs that it takes by formula.
#include <cstddef>
#include <string>
#include <vector>

#include "hwmodels/calibrate/read/timing.hpp"
#include "sim/config/diagnostics.hpp"

namespace tiersim {

/// A kernel of a sequence. `kernel` has no time; its name is that of the case.
struct PlannedPart {
  TimingCase kernel;
  std::string timed_as;  ///< name of the case that times this kernel; may be empty
};

/// A launch. It waits for the step before it on its stream, and for those in `after`.
struct PlannedStep {
  std::size_t part = 0;
  std::size_t stream = 0;          ///< 0 or 1
  std::vector<std::size_t> after;  ///< earlier steps
};

struct PlannedSequence {
  std::string name;
  std::string missing;  ///< name of a missing case: the sequence cannot run and has no parts
  std::vector<PlannedPart> parts;
  std::vector<PlannedStep> steps;
};

struct CompositionPlan {
  std::string build_id;
  std::vector<PlannedSequence> sequences;
};

/// `file` is the name in messages; mistakes go to `diagnostics`.
CompositionPlan read_composition_plan(const std::string& file, const std::string& text,
                                      Diagnostics& diagnostics);

}  // namespace tiersim
