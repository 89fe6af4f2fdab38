#include "sim/serving/level_series.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {

LevelSeries::LevelSeries(std::size_t levels)
    : series_(levels, TimeWeighted(SimTime{})), values_(levels) {}

void LevelSeries::change(const LevelChange& change) {
  TS_EXPECTS(change.at >= now_, change.at, now_);
  if (change.at > now_) settle(change.at);
  values_[change.level] += change.by;
}

// The values of the instant now_ last until `next`.
void LevelSeries::settle(SimTime next) {
  const SimTime at = std::exchange(now_, next);
  if (closes_ && at >= *closes_) return;
  for (std::size_t l = 0; l < series_.size(); ++l)
    if (series_[l].value() != values_[l]) series_[l].set(at, values_[l]);
  if (opened_ || !opens_ || next <= *opens_) return;
  for (TimeWeighted& series : series_) series.restart(*opens_);
  opened_ = true;
}

void LevelSeries::finish(SimTime end) {
  if (end > now_) settle(end);
  if (opens_ && !opened_)
    for (TimeWeighted& series : series_) series.restart(*opens_);
}

void merge_runs(std::vector<LevelChange>& changes, std::vector<std::size_t> begins) {
  std::vector<LevelChange> other(changes.size());
  const auto at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
  while (begins.size() > 1) {
    std::vector<std::size_t> pairs;
    for (std::size_t i = 0; i < begins.size(); i += 2) {
      const std::size_t middle = i + 1 < begins.size() ? begins[i + 1] : changes.size();
      const std::size_t end = i + 2 < begins.size() ? begins[i + 2] : changes.size();
      std::ranges::merge(std::span(changes).subspan(begins[i], middle - begins[i]),
                         std::span(changes).subspan(middle, end - middle),
                         other.begin() + at(begins[i]), {}, &LevelChange::at, &LevelChange::at);
      pairs.push_back(begins[i]);
    }
    changes.swap(other);
    begins = std::move(pairs);
  }
}

}  // namespace tiersim
