#include "sim/sweep/crossing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

constexpr double kTolerance = 2e-3;
constexpr int kMostSteps = 60;

struct Sample {
  double u = 0;
  double y = 0;
};

double slope_of(const Sample& a, const Sample& b) {
  return std::abs((a.y - b.y) / (a.u - b.u));
}

}  // namespace

SearchScale::SearchScale(const SolveRange& range)
    : range_(range), logarithmic_(range.low > 0 && range.high > 10 * range.low) {
  low_ = coordinate(range.low);
  high_ = coordinate(range.high);
  tolerance_ = logarithmic_ ? kTolerance : kTolerance * (high_ - low_);
}

double SearchScale::coordinate(double x) const {
  return logarithmic_ ? portable_log(x) : x;
}

double SearchScale::value(double u) const {
  if (u <= low_) return range_.low;
  if (u >= high_) return range_.high;
  const double x = std::clamp(logarithmic_ ? portable_exp(u) : u, range_.low, range_.high);
  return range_.whole || range_.unit_exponent == 0 ? std::round(x) : x;
}

Expected<double> crossing(const std::function<Expected<double>(double x)>& function,
                          const SearchScale& scale, const CrossingGuess& guess) {
  std::string problem;
  const auto sample = [&](double u) {
    const auto y = function(scale.value(u));
    if (!y) problem = y.error();
    return Sample{u, y ? *y : 0};
  };
  // Steps from the guess towards the root, until it lies between two samples.
  const double width = scale.high() - scale.low();
  Sample near = sample(std::clamp(scale.coordinate(guess.x), scale.low(), scale.high()));
  const bool upwards = (near.y < 0) == guess.rises;
  const double end = upwards ? scale.high() : scale.low();
  double step = guess.slope == 0 ? width / 8 : 1.2 * std::abs(near.y / guess.slope);
  step = std::clamp(step, scale.tolerance(), width / 2);
  std::optional<Sample> far;
  while (problem.empty() && near.y != 0 && !far) {
    if (near.u == end) return scale.value(end);
    const Sample there =
        sample(upwards ? std::min(near.u + step, end) : std::max(near.u - step, end));
    if ((there.y < 0) == (near.y < 0) && there.y != 0)
      near = there;
    else
      far = there;
    step *= 3;
  }
  if (!problem.empty()) return Unexpected(problem);
  if (near.y == 0) return scale.value(near.u);
  // False position. An end that stays for a second time, and a third, counts half each time
  // (Illinois). The flatter of both sides says how far from the root a sample may be.
  double near_weight = 1;
  double far_weight = 1;
  bool near_moved = false;
  bool far_moved = false;
  for (int i = 0; i < kMostSteps && std::abs(far->u - near.u) > scale.tolerance(); ++i) {
    const double a = near_weight * near.y;
    const double b = far_weight * far->y;
    const Sample there = sample(near.u + (far->u - near.u) * (a / (a - b)));
    if (!problem.empty()) return Unexpected(problem);
    const double slope = std::min(slope_of(there, near), slope_of(there, *far));
    if (std::abs(there.y) <= slope * scale.tolerance() / 2) return scale.value(there.u);
    const bool of_near = (there.y < 0) == (near.y < 0);
    (of_near ? near : *far) = there;
    near_weight = of_near ? 1 : far_moved ? near_weight / 2 : near_weight;
    far_weight = !of_near ? 1 : near_moved ? far_weight / 2 : far_weight;
    near_moved = of_near;
    far_moved = !of_near;
  }
  return scale.value(near.u + (far->u - near.u) * (near.y / (near.y - far->y)));
}

}  // namespace tiersim
