#include "sim/study/goals_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/text.hpp"
#include "sim/record/metric_names.hpp"
#include "sim/runner/solve.hpp"
#include "sim/study/solve_run.hpp"

namespace tiersim {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(' ');
  if (from == std::string::npos) return "";
  return text.substr(from, text.find_last_not_of(' ') - from + 1);
}

// "2s" as YAML has it: "2 s".
std::string spaced(const std::string& text) {
  const std::size_t unit = text.find_first_not_of("+-0123456789.eE");
  if (unit == std::string::npos || unit == 0 || text[unit] == ' ') return text;
  return text.substr(0, unit) + ' ' + text.substr(unit);
}

// The end of an interval that counts: -1 the more favourable one of every goal, 1 the less
// favourable one, 0 the mean.
double at_end(const SeedMean& value, const Goal& goal, int end) {
  if (end == 0 || !value.ci95) return value.mean;
  const bool below = goal.relation.front() == '<';
  return (end > 0) == below ? value.ci95->high : value.ci95->low;
}

class GoalsRun {
 public:
  GoalsRun(PointRunner& runner, const GoalsQuestion& question)
      : question_(question),
        means_(runner, question.point, question.seeds),
        range_(question.range.range(true)) {}

  GoalsAnswer answer() {
    const auto solution = solved(0);
    if (!solution) {
      out_.outcome = "cannot run";
      out_.problem = solution.error();
      return std::move(out_);
    }
    out_.searched = {question_.range.display(solution->low),
                     question_.range.display(solution->high)};
    out_.left_out = solution->left_out;
    for (const auto& [from, to] : solution->holding)
      out_.holding.push_back({question_.range.display(from), question_.range.display(to)});
    out_.outcome = solution->metric <= 0 ? "found" : "none";
    out_.at_end = !solution->next;
    if (out_.outcome == "found" && !question_.metric.empty())
      best(*solution);
    else
      setting(*solution);
    out_.evaluations = static_cast<int>(evaluated_.size());
    return std::move(out_);
  }

 private:
  Expected<std::vector<PointResult>> run(double x) {
    evaluated_.insert(x);
    return means_.run(question_.range.option(x));
  }

  double excess(const std::vector<PointResult>& results, int end) const {
    double most = -std::numeric_limits<double>::infinity();
    for (const Goal& goal : question_.goals)
      most = std::max(most, goal.excess(at_end(means_.mean(results, goal.metric), goal, end)));
    return most;
  }

  Expected<Solution> solved(int end) {
    const auto probe = [&](double x) -> Expected<double> {
      const auto results = run(x);
      if (!results) return Unexpected(results.error());
      return excess(*results, end);
    };
    return solve(probe, 0, range_, question_.maximize);
  }

  std::vector<GoalValue> values(double x, bool keep) {
    std::vector<GoalValue> out;
    const auto results = run(x);
    TS_EXPECTS(results.has_value(), x);  // as when it was searched
    if (keep) out_.record = results->front().record;
    if (!question_.metric.empty())
      out.push_back({.metric = question_.metric, .value = means_.mean(*results, question_.metric)});
    for (const Goal& goal : question_.goals) {
      const SeedMean mean = means_.mean(*results, goal.metric);
      out.push_back({goal.metric, mean, goal, goal.excess(mean.mean) <= 0});
    }
    return out;
  }

  void take(double x) {
    out_.value = question_.range.text(x);
    out_.display = question_.range.display(x);
    out_.values = values(x, true);
  }

  void setting(const Solution& solution) {
    take(solution.x);
    if (out_.outcome != "found") return;
    if (solution.next) {
      out_.next = question_.range.text(solution.next->x);
      out_.next_values = values(solution.next->x, false);
    }
    if (question_.seeds < 2) return;
    const auto unfavourable = solved(1);
    const auto favourable = solved(-1);
    if (!unfavourable || !favourable) return;  // an interval beyond what runs
    const auto [low, high] = std::minmax({unfavourable->x, favourable->x, solution.x});
    out_.interval = {question_.range.text(low), question_.range.text(high)};
  }

  // The metric at a place, signed so that more is better; none where a goal does not hold.
  std::optional<double> worth(std::int64_t place) {
    const auto results = run(x_of(place));
    if (!results || excess(*results, 0) > 0) return std::nullopt;
    const double value = means_.mean(*results, question_.metric).mean;
    return question_.maximize ? value : -value;
  }

  double x_of(std::int64_t place) const {
    return std::clamp(range_.grid().value(place), low_, high_);
  }

  void best(const Solution& solution) {
    const ValueGrid grid = range_.grid();
    low_ = solution.low;
    high_ = solution.high;
    const std::int64_t from = grid.floor(low_);
    const std::int64_t to = grid.ceil(high_);
    std::vector<std::int64_t> places{from};
    for (const std::int64_t place : grid.samples(from, to)) places.push_back(place);
    places.push_back(to);
    std::map<std::int64_t, std::optional<double>> known;
    for (const std::int64_t place : places) known[place] = worth(place);
    const auto better = [](const auto& a, const auto& b) { return a.second < b.second; };
    for (;;) {
      const auto top = std::ranges::max_element(known, better);
      std::vector<std::int64_t> halves;
      const auto halve = [&](std::int64_t a, std::int64_t b) {
        if (b - a > 1 && x_of(b) - x_of(a) > 0.01 * std::abs(x_of(top->first)))
          halves.push_back(roundest_between(a, b));
      };
      if (top != known.begin()) halve(std::prev(top)->first, top->first);
      if (std::next(top) != known.end()) halve(top->first, std::next(top)->first);
      if (halves.empty() || !top->second) {
        out_.at_end = top == known.begin() || std::next(top) == known.end();
        return take(x_of(top->first));
      }
      for (const std::int64_t place : halves) known[place] = worth(place);
    }
  }

  const GoalsQuestion& question_;
  PointMeans means_;
  SolveRange range_;
  std::set<double> evaluated_;
  double low_ = 0;
  double high_ = 0;
  GoalsAnswer out_;
};

}  // namespace

double Goal::excess(double value) const {
  const double scale = limit == 0 ? 1 : std::abs(limit);
  const double over = (relation.front() == '<' ? value - limit : limit - value) / scale;
  const bool strict = relation.size() == 1;
  return strict && over == 0 ? std::numeric_limits<double>::min() : over;
}

Expected<Goal> parse_goal(const std::string& text) {
  const std::size_t at = text.find_first_of("<>");
  if (at == std::string::npos)
    return Unexpected(fmt::format("'{}' is no goal (as in \"ttft.p99 < 2 s\")", text));
  Goal out{.relation = text.substr(at, at + 1 < text.size() && text[at + 1] == '=' ? 2 : 1)};
  auto metric = resolve_metric(trimmed(text.substr(0, at)));
  if (!metric) return Unexpected(metric.error());
  out.metric = *std::move(metric);
  const auto limit =
      metric_value(out.metric, spaced(trimmed(text.substr(at + out.relation.size()))));
  if (!limit) return Unexpected(limit.error());
  out.limit = *limit;
  return out;
}

GoalsAnswer answer_goals(PointRunner& runner, const GoalsQuestion& question) {
  TS_EXPECTS(!question.goals.empty());
  return GoalsRun(runner, question).answer();
}

}  // namespace tiersim
