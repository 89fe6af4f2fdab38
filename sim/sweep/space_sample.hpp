#pragma once
// The points that a SPEC's `sample` chooses. Internal to sim/sweep.
#include <string>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/sweep/space_builder.hpp"

namespace tiersim {

struct SampledPoint {
  std::size_t grid = 0;
  GridPlace place = {};
};

/// The reason why there is no such sample, and a hint.
struct SampleProblem {
  std::string message = {};
  std::string hint = {};
};

/// The whole sample; equal seeds give equal points. Throws PointMaker::Fault.
Expected<std::vector<SampledPoint>, SampleProblem> draw_sample(const CompiledSpace& space,
                                                               const SweepSample& sample);

}  // namespace tiersim
