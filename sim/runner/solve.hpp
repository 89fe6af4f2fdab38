#pragma once
// The value of one setting at which a metric has a given value, by a bracketed root search. A sweep
// would find it only to the spacing of its grid.
//
// Method: Chandrupatla (Advances in Engineering Software 28(3), 145-149, 1997): inverse quadratic
// interpolation where three samples show that it is sound, else bisection; about ten evaluations
// for a smooth metric. It is implemented here because it is shorter than the code to use a library
// that has it. The answer is the side of the crossing on which the metric is not above the target:
// the largest such x if the metric rises with x, the smallest if it falls. The search runs over the
// logarithm of x if the range spans more than a factor of ten, and over whole numbers by bisection.
//
// Limits: one root. A metric that is not monotone over the range may have others; `monotone` is
// false where an evaluation showed this.
#include <functional>
#include <optional>
#include <string>

#include "sim/base/expected.hpp"

namespace tiersim {

/// Found values of x are within this factor of the crossing.
inline constexpr double kSolveTolerance = 1e-6;

struct SolveRange {
  double low = 0;
  double high = 0;     ///< above `low`
  bool whole = false;  ///< x takes whole numbers only
};

struct Solution {
  enum class Outcome : std::uint8_t {
    found,   ///< the metric crosses the target beside `x`, and is not above it at `x`
    beyond,  ///< no crossing within the range; `x` is the nearest end
    flat,    ///< the metric is equal at both ends; `x` is the low end
  };
  Outcome outcome = Outcome::found;
  double x = 0;
  double metric = 0;  ///< at `x`, as evaluated
  /// The whole number beside `x` at which the metric is above the target; none at an end.
  struct Next {
    double x = 0;
    double metric = 0;
  };
  std::optional<Next> next = std::nullopt;
  bool rises = true;     ///< the metric at the high end is above that at the low one
  bool monotone = true;  ///< every evaluation lay between those of its bracket
  int evaluations = 0;
  double low = 0;             ///< the searched range, which is narrower than the requested one
  double high = 0;            ///< if an end has no metric
  std::string left_out = {};  ///< reason for the narrower range; empty if all of it was searched
};

/// The metric at x, or the reason why there is none. If only one end of the range has a metric, the
/// search covers the part that has one; an error between the ends, or at both, ends it.
using SolveMetric = std::function<Expected<double>(double x)>;

Expected<Solution> solve(const SolveMetric& metric, double target, SolveRange range);

}  // namespace tiersim
