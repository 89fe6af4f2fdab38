#include "sim/cli/point_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "reports/points/point_values.hpp"
#include "sim/base/text.hpp"

namespace tiersim::cli {
namespace {

constexpr std::size_t kMostLabels = 20'000;   // of a column, in memory
constexpr std::size_t kFewestKept = 3;        // values of an axis
constexpr std::size_t kWithoutResults = 200;  // as many as a page lists

}  // namespace

void PointChoice::Ends::add(double value, std::int64_t position) {
  if (!std::isfinite(value)) return;
  if (at_least < 0 || value < least) {
    least = value;
    at_least = position;
  }
  if (at_most < 0 || value > most) {
    most = value;
    at_most = position;
  }
}

// Only points of the front so far can be on that of all.
void PointChoice::Front::prune() {
  std::vector<Objectives> kept;
  std::vector<std::int64_t> at;
  for (const std::size_t i : pareto_front(values, senses)) {
    kept.push_back(std::move(values[i]));
    at.push_back(positions[i]);
  }
  values = std::move(kept);
  positions = std::move(at);
  pruned = values.size();
}

PointChoice::PointChoice(Question question)
    : question_(std::move(question)), labels_(question_.columns.size()) {
  for (std::vector<ReportObjective>& objectives : question_.fronts) {
    Front& front = fronts_.emplace_back();
    for (const ReportObjective& objective : objectives)
      front.senses.push_back(objective.maximize ? Sense::maximize : Sense::minimize);
    front.objectives = std::move(objectives);
  }
  if (question_.besides == Besides::front)
    whole_.comparison.emplace(WholeComparison{.objectives = fronts_.front().objectives,
                                              .differ = std::vector<bool>(labels_.size())});
}

// Counts a point in the comparison by the only front.
void PointChoice::compare(const ReportPoint& point, bool feasible) {
  WholeComparison& all = *whole_.comparison;
  Objectives values;
  for (const ReportObjective& objective : all.objectives)
    if (const auto value =
            point.record ? metric_value(*point.record, objective.metric) : std::nullopt;
        value && std::isfinite(*value))
      values.push_back(*value);
  if (values.size() < all.objectives.size()) {
    ++(point.record ? all.valueless : point.failed ? all.failed : all.unfit);
  } else if (question_.constrained && !feasible) {
    ++all.unacceptable;
  } else if (all.compared++ == 0) {
    all.worst = std::move(values);
    first_compared_ = point.labels;
  } else {
    for (std::size_t k = 0; k < values.size(); ++k)
      all.worst[k] = all.objectives[k].maximize ? std::min(all.worst[k], values[k])
                                                : std::max(all.worst[k], values[k]);
    for (std::size_t c = 0; c < labels_.size(); ++c)
      if (point.labels[c] != first_compared_[c]) all.differ[c] = true;
  }
}

void PointChoice::add(const ReportPoint& point, bool feasible) {
  ++whole_.points;
  add_labels(point);
  if (whole_.comparison) compare(point, feasible);
  if (!point.record) {
    if (point.failed) ++whole_.failed;
    if (question_.besides == Besides::marked && without_++ < kWithoutResults)
      single_.push_back(point.position);
    return;
  }
  ++whole_.with_results;
  if (question_.constrained && feasible) ++whole_.feasible;
  for (const auto& [name, metric] : point.record->metrics)
    metrics_[name].add(metric.value, point.position);
  add_to_fronts(point, feasible);
}

void PointChoice::add_labels(const ReportPoint& point) {
  for (std::size_t c = 0; c < labels_.size(); ++c) {
    Labels& labels = labels_[c];
    const std::string& label = point.labels[c];
    const bool numeric = question_.columns[c].numeric;
    if (!labels.many) {
      const auto [at, is_new] = labels.known.try_emplace(label, labels.known.size());
      if (!is_new) continue;
      const auto number = numeric ? number_of_label(label) : std::nullopt;
      labels.numbers.push_back(number ? number->value : std::nan(""));
      labels.ends.add(labels.numbers.back(), point.position);
      labels.many = labels.known.size() > kMostLabels;
      if (labels.many) labels.known.clear();
    } else if (numeric) {
      if (const auto number = number_of_label(label))
        labels.ends.add(number->value, point.position);
    }
  }
}

void PointChoice::add_to_fronts(const ReportPoint& point, bool feasible) {
  if (question_.constrained && !feasible) return;
  constexpr std::size_t kBuffer = 8192;
  for (Front& front : fronts_) {
    Objectives values;
    for (const ReportObjective& objective : front.objectives)
      if (const auto value = metric_value(*point.record, objective.metric);
          value && std::isfinite(*value))
        values.push_back(*value);
    if (values.size() < front.senses.size()) continue;
    ++front.compared;
    front.values.push_back(std::move(values));
    front.positions.push_back(point.position);
    if (front.values.size() > 2 * front.pruned + kBuffer) front.prune();
  }
}

void PointChoice::close() {
  for (const Labels& labels : labels_)
    whole_.labels.push_back(labels.many ? 0 : labels.known.size());
  takes_all_ = std::cmp_less_equal(whole_.points, question_.most);
  if (takes_all_) return;
  if (question_.sampled || !thin_axes()) {
    const auto most = static_cast<std::int64_t>(question_.most);
    step_ = (whole_.points + most - 1) / most;
    whole_.chosen_by = fmt::format("one in {} by position", step_);
  }
  if (question_.besides != Besides::none) take_single_points();
}

// Leaves out values of the longest axes until about `most` points are left. False where that is not
// possible.
bool PointChoice::thin_axes() {
  std::vector<std::size_t> axes;
  for (std::size_t c = 0; c < labels_.size(); ++c)
    if (!question_.follows[c] && question_.columns[c].numeric) {
      if (labels_[c].many) return false;
      axes.push_back(c);
    }
  std::vector<std::size_t> kept(labels_.size());
  for (const std::size_t c : axes) kept[c] = labels_[c].known.size();
  double left = static_cast<double>(whole_.points);
  while (left > static_cast<double>(question_.most)) {
    const auto longest = std::ranges::max_element(axes, {}, [&](std::size_t c) { return kept[c]; });
    if (longest == axes.end() || kept[*longest] <= kFewestKept) return false;
    left *= static_cast<double>(kept[*longest] - 1) / static_cast<double>(kept[*longest]);
    --kept[*longest];
  }
  std::vector<std::string> texts;
  for (const std::size_t c : axes) {
    Labels& labels = labels_[c];
    const std::size_t n = labels.known.size();
    if (kept[c] == n) continue;
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      const double x = labels.numbers[a];
      const double y = labels.numbers[b];
      return std::isnan(x) || std::isnan(y) ? !std::isnan(x) && std::isnan(y) : x < y;
    });
    labels.kept.assign(n, false);
    for (std::size_t i = 0; i < kept[c]; ++i)
      labels.kept[order[(i * (n - 1) + (kept[c] - 1) / 2) / (kept[c] - 1)]] = true;
    texts.push_back(
        fmt::format("{} of the {} values of {}", kept[c], n, question_.columns[c].name));
  }
  whole_.chosen_by = "those at " + join(texts);
  return true;
}

void PointChoice::take_single_points() {
  constexpr const char* kAlways =
      "the first points without results, and of each metric and numeric axis one with the least "
      "and "
      "one with the most";
  const auto take = [&](const Ends& ends) {
    for (const std::int64_t position : {ends.at_least, ends.at_most})
      if (position >= 0) single_.push_back(position);
  };
  // A front as large as the page leaves no room for anything else.
  for (Front& front : fronts_) {
    front.prune();
    whole_.compared = std::max(whole_.compared, front.compared);
    const std::size_t every =
        question_.besides == Besides::front ? 1 : 1 + front.positions.size() / question_.most;
    for (std::size_t i = 0; i < front.positions.size(); i += every)
      single_.push_back(front.positions[i]);
    if (every > 1)
      whole_.chosen_by +=
          fmt::format("; one in {} of the front of {} points", every, front.positions.size());
  }
  if (question_.besides == Besides::front) {
    whole_.chosen_by += "; the front";
  } else {
    whole_.chosen_by += fmt::format("; {}{}", fronts_.empty() ? "" : "the front, ", kAlways);
    for (const auto& [name, ends] : metrics_) take(ends);
    for (const Labels& labels : labels_) take(labels.ends);
  }
  fronts_.clear();
  std::ranges::sort(single_);
  single_.erase(std::unique(single_.begin(), single_.end()), single_.end());
}

bool PointChoice::takes(std::int64_t position, const std::vector<std::string>& labels) const {
  if (takes_all_ || std::ranges::binary_search(single_, position)) return true;
  if (step_ > 0) return position % step_ == step_ / 2;
  for (std::size_t c = 0; c < labels_.size(); ++c) {
    if (labels_[c].kept.empty()) continue;
    const auto known = labels_[c].known.find(labels[c]);
    if (known != labels_[c].known.end() && !labels_[c].kept[known->second]) return false;
  }
  return true;
}

}  // namespace tiersim::cli
