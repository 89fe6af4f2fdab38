#pragma once
// The value of one setting at which a metric has a given value, by a bracketed root search. A sweep
// would find it only to the spacing of its grid.
//
// Answer: the side of the crossing on which the metric is not above the target: the largest such x
// if the metric rises with x, the smallest if it falls. Candidates are the values of a fixed grid
// (value_grid.hpp), and the next candidate beyond the answer was evaluated and is above the target.
// So a metric that crosses once has one answer, whatever the range.
//
// Method: Chandrupatla (Advances in Engineering Software 28(3), 145-149, 1997): inverse quadratic
// interpolation where three samples show that it is sound, else bisection; about ten evaluations
// for a smooth metric. It is implemented here because it is shorter than the code to use a library
// that has it. Interpolation runs over the logarithm of x if the range spans more than a factor of
// ten; whole numbers are bisected.
//
// A metric with noise, such as a tail latency, may cross several times. With `sampled`, the metric
// is first evaluated at the preferred numbers R10 within the range (ten a decade). The answer is
// then the end of one part of the range in which every sample holds: of the first part from below
// for a metric that rises, of the last one for a metric that falls. It is found by bisection that
// visits the same numbers for every range. `holding` lists all parts. A part between two samples is
// not seen. Without `sampled`, `monotone` is false where an evaluation showed that there may be
// other crossings.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/runner/value_grid.hpp"

namespace tiersim {

/// Found values of x are within this factor of the crossing.
inline constexpr double kSolveTolerance = 1e-6;
/// Significant digits of the answer for a sampled metric, which has noise.
inline constexpr int kSampledDigits = 4;
inline constexpr double kSampledTolerance = 1e-3;

struct SolveRange {
  double low = 0;
  double high = 0;     ///< above `low`
  bool whole = false;  ///< x takes whole numbers only
  bool sampled = false;
  int unit_exponent = -12;  ///< x takes whole multiples of 10^unit_exponent

  ValueGrid grid() const {
    if (whole) return {.digits = 18, .unit_exponent = 0};
    return {.digits = sampled ? kSampledDigits : 7, .unit_exponent = unit_exponent};
  }
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
  /// Of whole numbers and sampled metrics: the candidate beside `x` at which the metric is above
  /// the target; none at an end.
  struct Next {
    double x = 0;
    double metric = 0;
  };
  std::optional<Next> next = std::nullopt;
  bool rises = true;     ///< the metric at the high end is above that at the low one
  bool monotone = true;  ///< every evaluation lay between those of its bracket
  /// Of a sampled metric: the parts of the range whose samples are not above the target.
  std::vector<std::array<double, 2>> holding = {};
  int evaluations = 0;
  double low = 0;             ///< the searched range, which is narrower than the requested one
  double high = 0;            ///< if an end has no metric
  std::string left_out = {};  ///< reason for the narrower range; empty if all of it was searched
};

/// The metric at x, or the reason why there is none. If only one end of the range has a metric, the
/// search covers the part that has one; an error between the ends, or at both, ends it.
using SolveMetric = std::function<Expected<double>(double x)>;

/// `rises` says which end of the values that hold is asked for (true: the largest); by default the
/// metric's values at the ends of the range say it.
Expected<Solution> solve(const SolveMetric& metric, double target, SolveRange range,
                         std::optional<bool> rises = std::nullopt);

}  // namespace tiersim
