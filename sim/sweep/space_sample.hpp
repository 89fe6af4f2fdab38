#pragma once
// The points of a space that a SPEC's `sample` chooses. Internal to sim/sweep.
#include <string>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/sweep/space_builder.hpp"

namespace tiersim {

struct SampledPoint {
  std::size_t grid = 0;
  GridPlace place = {};
};

/// Why there is no such sample, and what to do.
struct SampleProblem {
  std::string message = {};
  std::string hint = {};
};

/// All of the sample; equal seeds give equal points. Throws PointMaker::Fault.
Expected<std::vector<SampledPoint>, SampleProblem> draw_sample(const CompiledSpace& space,
                                                               const SweepSample& sample);

}  // namespace tiersim
