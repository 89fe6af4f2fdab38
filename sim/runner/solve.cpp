#include "sim/runner/solve.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

struct Sample {
  double u = 0;  // coordinate of the search
  double x = 0;
  double metric = 0;
  double y = 0;              // metric - target
  std::string problem = {};  // reason why there is no metric
};

class Search {
 public:
  Search(const SolveMetric& metric, double target, SolveRange range)
      : metric_(metric),
        target_(target),
        range_(range),
        logarithmic_(!range.whole && range.low > 0 && range.high > 10 * range.low) {}

  Expected<Solution> run() {
    low_ = sample(coordinate(range_.low), range_.low);
    high_ = sample(coordinate(range_.high), range_.high);
    if (low_.problem.empty() != high_.problem.empty()) narrow_to_what_runs();
    if (error_) return Unexpected(low_.problem.empty() ? *error_ : low_.problem);
    searched_low_ = low_.x;
    searched_high_ = high_.x;
    if (low_.x == high_.x && low_.y != 0) return solution(Solution::Outcome::beyond, low_);
    const bool rises = high_.y > low_.y;
    if (low_.y == high_.y && low_.y != 0) return solution(Solution::Outcome::flat, low_);
    if (low_.y == 0 && !rises) return solution(Solution::Outcome::found, low_);
    if (high_.y == 0 && rises) return solution(Solution::Outcome::found, high_);
    if (holds(low_) == holds(high_))
      return solution(Solution::Outcome::beyond,
                      std::abs(low_.y) < std::abs(high_.y) ? low_ : high_);
    if (range_.whole)
      bisect();
    else
      narrow();
    if (error_) return Unexpected(*error_);
    Solution found = solution(Solution::Outcome::found, rises ? low_ : high_);
    found.rises = rises;
    const Sample& above = rises ? high_ : low_;
    if (range_.whole) found.next = Solution::Next{above.x, above.metric};
    return found;
  }

 private:
  double coordinate(double x) const { return logarithmic_ ? portable_log(x) : x; }
  double value(double u) const {
    const double x = logarithmic_ ? portable_exp(u) : u;
    return std::clamp(x, range_.low, range_.high);
  }

  Sample sample(double u) { return sample(u, value(u)); }
  Sample sample(double u, double x) {
    Sample out{.u = u, .x = x};
    ++evaluations_;
    if (const auto metric = metric_(x)) {
      out.metric = *metric;
      out.y = *metric - target_;
    } else {
      out.problem = metric.error();
      error_ = metric.error();
    }
    return out;
  }

  // Moves the end without a metric to the last x with one.
  void narrow_to_what_runs() {
    Sample& end = low_.problem.empty() ? high_ : low_;
    Sample fails = end;
    end = low_.problem.empty() ? low_ : high_;
    const auto apart = [&] {
      return range_.whole ? std::abs(fails.x - end.x) > 1
                          : std::abs(fails.u - end.u) > 2 * half_width();
    };
    while (apart()) {
      error_.reset();
      const double middle = (fails.u + end.u) / 2;
      Sample next = sample(range_.whole ? std::floor(middle) : middle);
      (next.problem.empty() ? end : fails) = std::move(next);
    }
    error_.reset();
    left_out_ = fails.problem;
  }

  static bool holds(const Sample& sample) { return sample.y <= 0; }

  // Replaces the end of the bracket on the sample's side.
  void take(const Sample& sample) {
    const auto [least, most] = std::minmax(low_.y, high_.y);
    monotone_ = monotone_ && sample.y >= least && sample.y <= most;
    (holds(sample) == holds(low_) ? low_ : high_) = sample;
  }

  void bisect() {
    while (!error_ && high_.x - low_.x > 1) take(sample(std::floor((low_.x + high_.x) / 2)));
  }

  // Half of the width below which the bracket is narrow enough, in the coordinate of the search.
  double half_width() const {
    if (logarithmic_) return kSolveTolerance / 2;
    return kSolveTolerance / 2 * std::max(std::abs(range_.low), std::abs(range_.high));
  }

  // `newest` and `other` are the ends of the bracket; `before` is the end replaced last.
  void narrow() {
    Sample newest = high_;
    Sample other = low_;
    double share = 0.5;  // position between `newest` and `other`
    while (!error_) {
      const Sample next = sample(newest.u + share * (other.u - newest.u));
      Sample before = other;
      if (holds(next) == holds(newest))
        before = newest;
      else
        other = newest;
      take(next);
      newest = next;
      const double least_share = half_width() / std::abs(other.u - newest.u);
      if (least_share > 0.5) return;
      share = std::clamp(next_share(newest, other, before), least_share, 1 - least_share);
    }
  }

  // Inverse quadratic interpolation if the three samples ensure that it stays in the bracket.
  static double next_share(const Sample& a, const Sample& b, const Sample& c) {
    const double xi = (a.u - b.u) / (c.u - b.u);
    const double phi = (a.y - b.y) / (c.y - b.y);
    if (phi * phi >= xi || (1 - phi) * (1 - phi) >= 1 - xi) return 0.5;
    return a.y / (b.y - a.y) * c.y / (b.y - c.y) +
           (c.u - a.u) / (b.u - a.u) * a.y / (c.y - a.y) * b.y / (c.y - b.y);
  }

  Solution solution(Solution::Outcome outcome, const Sample& at) const {
    return {.outcome = outcome,
            .x = at.x,
            .metric = at.metric,
            .rises = high_.y > low_.y,
            .monotone = monotone_,
            .evaluations = evaluations_,
            .low = searched_low_,
            .high = searched_high_,
            .left_out = left_out_};
  }

  const SolveMetric& metric_;
  double target_;
  SolveRange range_;
  bool logarithmic_;
  Sample low_;
  Sample high_;
  bool monotone_ = true;
  int evaluations_ = 0;
  double searched_low_ = 0;
  double searched_high_ = 0;
  std::string left_out_;
  std::optional<std::string> error_;
};

}  // namespace

Expected<Solution> solve(const SolveMetric& metric, double target, SolveRange range) {
  TS_EXPECTS(range.low < range.high, range.low, range.high);
  return Search(metric, target, range).run();
}

}  // namespace tiersim
