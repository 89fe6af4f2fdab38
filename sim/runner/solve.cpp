#include "sim/runner/solve.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

struct Sample {
  std::int64_t place = 0;  // on the grid; beside an end of the range that is not on it
  double u = 0;            // coordinate of interpolation
  double x = 0;
  double metric = 0;
  double y = 0;              // metric - target
  std::string problem = {};  // reason why there is no metric

  bool holds() const { return y <= 0; }
};

class Search {
 public:
  Search(const SolveMetric& metric, double target, SolveRange range, std::optional<bool> rises)
      : metric_(metric),
        target_(target),
        range_(range),
        grid_(range.grid()),
        logarithmic_(range.low > 0 && range.high > 10 * range.low),
        asked_(rises) {}

  Expected<Solution> run() {
    low_ = sample(grid_.floor(range_.low), range_.low);
    high_ = sample(grid_.ceil(range_.high), range_.high);
    if (low_.problem.empty() != high_.problem.empty()) narrow_to_what_runs();
    if (error_) return Unexpected(low_.problem.empty() ? *error_ : low_.problem);
    searched_ = {low_.x, high_.x};
    rises_ = asked_.value_or(high_.y > low_.y);
    if (low_.x == high_.x && low_.y != 0) return solution(Solution::Outcome::beyond, low_);
    if (range_.sampled) return run_sampled();
    if (low_.y == high_.y && low_.y != 0) return solution(Solution::Outcome::flat, low_);
    if (low_.y == 0 && !rises_) return solution(Solution::Outcome::found, low_);
    if (high_.y == 0 && rises_) return solution(Solution::Outcome::found, high_);
    if (low_.holds() == high_.holds())
      return solution(Solution::Outcome::beyond,
                      std::abs(low_.y) < std::abs(high_.y) ? low_ : high_);
    if (range_.whole)
      bisect();
    else
      narrow();
    return found();
  }

 private:
  double coordinate(double x) const { return logarithmic_ ? portable_log(x) : x; }
  double value(double u) const {
    return std::clamp(logarithmic_ ? portable_exp(u) : u, range_.low, range_.high);
  }

  Sample sample(std::int64_t place) { return sample(place, grid_.value(place)); }
  Sample sample(std::int64_t place, double x) {
    Sample out{.place = place, .u = coordinate(x), .x = x};
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

  // Moves the end without a metric to the last candidate with one.
  void narrow_to_what_runs() {
    Sample& end = low_.problem.empty() ? high_ : low_;
    Sample fails = end;
    end = low_.problem.empty() ? low_ : high_;
    while (std::abs(fails.place - end.place) > 1) {
      error_.reset();
      Sample next = sample(
          roundest_between(std::min(fails.place, end.place), std::max(fails.place, end.place)));
      (next.problem.empty() ? end : fails) = std::move(next);
    }
    error_.reset();
    left_out_ = fails.problem;
  }

  // Replaces the end of the bracket on the sample's side.
  void take(const Sample& sample) {
    const auto [least, most] = std::minmax(low_.y, high_.y);
    monotone_ = monotone_ && sample.y >= least && sample.y <= most;
    (sample.holds() == low_.holds() ? low_ : high_) = sample;
  }

  bool is_narrow() const { return high_.place - low_.place <= 1; }

  void bisect() {
    while (!error_ && !is_narrow()) take(sample(roundest_between(low_.place, high_.place)));
  }

  // `newest` and `other` are the ends of the bracket; `before` is the end replaced last.
  void narrow() {
    Sample newest = high_;
    Sample other = low_;
    double share = 0.5;  // position between `newest` and `other`
    int slow = 0;        // steps since the bracket was last halved
    std::int64_t halved = high_.place - low_.place;
    while (!error_ && !is_narrow()) {
      constexpr int kPatience = 4;
      if (slow > kPatience) share = 0.5;
      const double x = value(newest.u + share * (other.u - newest.u));
      const Sample next = sample(std::clamp(grid_.nearest(x), low_.place + 1, high_.place - 1));
      Sample before = other;
      if (next.holds() == newest.holds())
        before = newest;
      else
        other = newest;
      take(next);
      newest = next;
      share = next_share(newest, other, before);
      ++slow;
      if (2 * (high_.place - low_.place) > halved) continue;
      halved = high_.place - low_.place;
      slow = 0;
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

  Expected<Solution> run_sampled() {
    std::vector<Sample> samples{low_};
    for (const std::int64_t place : grid_.samples(low_.place, high_.place)) {
      samples.push_back(sample(place));
      if (error_) return Unexpected(*error_);
    }
    samples.push_back(high_);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (!samples[i].holds()) continue;
      if (i == 0 || !samples[i - 1].holds()) holding_.push_back({samples[i].x, samples[i].x});
      holding_.back()[1] = samples[i].x;
    }
    monotone_ = std::ranges::is_sorted(samples, {}, &Sample::y) ||
                std::ranges::is_sorted(samples, std::greater(), &Sample::y);
    const auto equal = [&](const Sample& one) { return one.y == samples.front().y; };
    if (!asked_ && std::ranges::all_of(samples, equal) && low_.y != 0)
      return solution(Solution::Outcome::flat, low_);
    if (holding_.empty() || holding_.front() == searched_)
      return solution(Solution::Outcome::beyond,
                      asked_ ? (*asked_ != holding_.empty() ? high_ : low_) : nearest_end());
    if (!rises_) std::ranges::reverse(samples);
    const auto first = std::ranges::find_if(samples, &Sample::holds);
    const auto last = std::find_if_not(first, samples.end(), std::mem_fn(&Sample::holds));
    if (last == samples.end()) return solution(Solution::Outcome::found, *(last - 1));
    low_ = *(last - 1);
    high_ = *last;
    if (!rises_) std::swap(low_, high_);
    bisect();
    return found();
  }

  const Sample& nearest_end() const { return std::abs(low_.y) < std::abs(high_.y) ? low_ : high_; }

  Expected<Solution> found() const {
    if (error_) return Unexpected(*error_);
    const Sample& above = rises_ ? high_ : low_;
    Solution out = solution(Solution::Outcome::found, rises_ ? low_ : high_);
    if (range_.whole || range_.sampled) out.next = Solution::Next{above.x, above.metric};
    return out;
  }

  Solution solution(Solution::Outcome outcome, const Sample& at) const {
    return {.outcome = outcome,
            .x = at.x,
            .metric = at.metric,
            .rises = rises_,
            .monotone = monotone_,
            .holding = holding_,
            .evaluations = evaluations_,
            .low = searched_[0],
            .high = searched_[1],
            .left_out = left_out_};
  }

  const SolveMetric& metric_;
  double target_;
  SolveRange range_;
  ValueGrid grid_;
  bool logarithmic_;
  std::optional<bool> asked_;
  bool rises_ = true;
  Sample low_;
  Sample high_;
  bool monotone_ = true;
  int evaluations_ = 0;
  std::array<double, 2> searched_{};
  std::vector<std::array<double, 2>> holding_;
  std::string left_out_;
  std::optional<std::string> error_;
};

}  // namespace

Expected<Solution> solve(const SolveMetric& metric, double target, SolveRange range,
                         std::optional<bool> rises) {
  TS_EXPECTS(range.low < range.high, range.low, range.high);
  return Search(metric, target, range, rises).run();
}

}  // namespace tiersim
