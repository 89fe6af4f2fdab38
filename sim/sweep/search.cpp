#include "sim/sweep/search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

// Number of points kept. A rank only falls as points are added, so points beyond this number are
// never parents again.
constexpr std::size_t kRemembered = 400;
constexpr double kNear = 0.20;
constexpr double kFar = 0.25;
constexpr double kMixed = 0.20;
constexpr double kBeyond = 0.20;
// the remaining points are drawn from all
constexpr int kTries = 8;  // draws of a new place, before one is drawn from the rest

// The coordinate after a step, limited to the axis.
std::int64_t moved(std::int64_t from, std::int64_t step, std::int64_t size) {
  return std::clamp<std::int64_t>(from + step, 0, size - 1);
}

// Ordered by rank and, within a rank, by crowding distance; ties go to the earlier point.
std::vector<std::size_t> order_of_acceptable(const std::vector<Objectives>& points,
                                             const Senses& directions) {
  const auto ranks = pareto_ranks(points, directions);
  std::vector<std::vector<std::size_t>> fronts;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!ranks[i]) continue;
    if (*ranks[i] >= fronts.size()) fronts.resize(*ranks[i] + 1);
    fronts[*ranks[i]].push_back(i);
  }
  std::vector<std::size_t> out;
  for (const std::vector<std::size_t>& front : fronts) {
    std::vector<Objectives> members;
    for (const std::size_t i : front) members.push_back(points[i]);
    const std::vector<double> crowding = crowding_distances(members);
    std::vector<std::size_t> order(front.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return crowding[i]; });
    for (const std::size_t i : order) out.push_back(front[i]);
  }
  return out;
}

}  // namespace

std::vector<std::size_t> search_order(const std::vector<SearchResult>& results,
                                      const Senses& directions) {
  std::vector<std::size_t> acceptable;
  std::vector<Objectives> points;
  std::vector<bool> placed(results.size(), false);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].values.empty() || results[i].violation > 0) continue;
    acceptable.push_back(i);
    points.push_back(results[i].values);
  }
  std::vector<std::size_t> out;
  for (const std::size_t i : order_of_acceptable(points, directions)) {
    out.push_back(acceptable[i]);
    placed[acceptable[i]] = true;
  }
  const auto first_of_rest = static_cast<std::ptrdiff_t>(out.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!placed[i]) out.push_back(i);
  const auto away = [&](std::size_t i) {
    return results[i].violation > 0 ? results[i].violation
                                    : std::numeric_limits<double>::infinity();
  };
  std::stable_sort(out.begin() + first_of_rest, out.end(),
                   [&](std::size_t a, std::size_t b) { return away(a) < away(b); });
  return out;
}

Search::Search(const DesignSpace& space, const SweepSearch& settings, Senses directions)
    : settings_(settings),
      directions_(std::move(directions)),
      lattice_(space),
      rng_(static_cast<std::uint64_t>(settings.seed), "sweep.search") {
  TS_EXPECTS(!directions_.empty());
  TS_EXPECTS(settings.budget > 0 && settings.generation > 0 && settings.start > 0, settings.budget,
             settings.generation, settings.start);
}

std::vector<SpacePoint> Search::next() {
  choose();
  return std::exchange(ready_, {});
}

bool Search::done() {
  if (told_ < waiting_.size()) return false;
  choose();
  return ready_.empty();
}

void Search::tell(std::int64_t position, SearchResult result) {
  const auto it = waiting_.find(position);
  TS_EXPECTS(it != waiting_.end() && !it->second.told, position);
  TS_EXPECTS(result.values.empty() || result.values.size() == directions_.size(), position);
  it->second.result = std::move(result);
  it->second.told = true;
  ++told_;
}

// Chooses the next generation, if the last one is complete and no new one has been chosen.
void Search::choose() {
  if (!ready_.empty()) return;
  TS_EXPECTS(told_ == waiting_.size(), told_, waiting_.size());
  const bool first = chosen_ == 0;
  rank();
  if (first) {
    choose_start();
    return;
  }
  const std::int64_t until = std::min(settings_.budget, chosen_ + settings_.generation);
  while (chosen_ < until && !exhausted_) breed();
}

void Search::rank() {
  for (auto& [position, known] : waiting_) best_.push_back(std::move(known));
  waiting_.clear();
  told_ = 0;
  std::vector<SearchResult> results;
  for (const Known& known : best_) results.push_back(known.result);
  std::vector<Known> ranked;
  for (const std::size_t i : search_order(results, directions_)) {
    if (ranked.size() == kRemembered) break;
    ranked.push_back(std::move(best_[i]));
  }
  best_ = std::move(ranked);
}

void Search::choose_start() {
  const std::int64_t start = std::min(settings_.start, settings_.budget);
  for (const SearchPlace& place : lattice_.spread(start, rng_)) take(place);
  while (chosen_ < start && take_any()) {
  }
}

bool Search::take(const SearchPlace& place) {
  std::optional<SpacePoint> point = lattice_.visit(place);
  if (!point) return false;
  point->position = chosen_++;
  waiting_.emplace(point->position, Known{.place = place});
  ready_.push_back(*std::move(point));
  return true;
}

bool Search::take_any() {
  auto drawn = lattice_.visit_any(rng_);
  exhausted_ = !drawn;
  if (!drawn) return false;
  drawn->second.position = chosen_++;
  waiting_.emplace(drawn->second.position, Known{.place = std::move(drawn->first)});
  ready_.push_back(std::move(drawn->second));
  return true;
}

// Adds one point to the generation.
void Search::breed() {
  const double kind = rng_.uniform();
  if (kind < kNear + kFar + kMixed + kBeyond) {
    for (int i = 0; i < kTries; ++i) {
      const SearchPlace& one = parent();
      if (take(child(kind, one, parent()))) return;
    }
  }
  take_any();
}

SearchPlace Search::child(double kind, const SearchPlace& a, const SearchPlace& b) {
  if (kind < kNear) return near(a);
  if (kind < kNear + kFar) return far(a);
  if (kind < kNear + kFar + kMixed) return mixed(a, b);
  return beyond(a, b);
}

// The better of two of the best points, from as many as half a generation; `best_` is in order.
const SearchPlace& Search::parent() {
  const auto best = std::min(
      best_.size(), std::max<std::size_t>(4, static_cast<std::size_t>(settings_.generation) / 2));
  const std::size_t a = rng_.below(best);
  const std::size_t b = rng_.below(best);
  return best_[std::min(a, b)].place;
}

SearchPlace Search::near(const SearchPlace& from) {
  SearchPlace out = from;
  if (out.at.empty()) return out;
  const std::size_t axis = rng_.below(out.at.size());
  const std::int64_t step = rng_.below(2) == 0 ? 1 : -1;
  out.at[axis] = moved(out.at[axis], step, lattice_.sizes(out.grid)[axis]);
  return out;
}

SearchPlace Search::far(const SearchPlace& from) {
  SearchPlace out = from;
  if (out.at.empty()) return out;
  // One axis, or more with decreasing probability.
  do {
    const std::size_t axis = rng_.below(out.at.size());
    const std::int64_t size = lattice_.sizes(out.grid)[axis];
    const auto bits = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(size)));
    const std::int64_t powers = std::max<std::int64_t>(1, bits - 1);
    const std::int64_t step = std::int64_t{1} << drawn_below(powers, rng_);
    out.at[axis] = moved(out.at[axis], rng_.below(2) == 0 ? step : -step, size);
  } while (rng_.below(3) == 0);
  return out;
}

// Beyond one parent, away from another, by a part of the distance between them.
SearchPlace Search::beyond(const SearchPlace& a, const SearchPlace& b) {
  if (a.grid != b.grid) return far(a);
  SearchPlace out = a;
  const double way = rng_.uniform();
  for (std::size_t axis = 0; axis < out.at.size(); ++axis) {
    const double step = way * static_cast<double>(a.at[axis] - b.at[axis]);
    out.at[axis] = moved(out.at[axis], std::llround(step), lattice_.sizes(out.grid)[axis]);
  }
  return out;
}

SearchPlace Search::mixed(const SearchPlace& a, const SearchPlace& b) {
  SearchPlace out = a;
  if (a.grid != b.grid) return far(a);
  for (std::size_t axis = 0; axis < out.at.size(); ++axis)
    if (rng_.below(2) == 0) out.at[axis] = b.at[axis];
  return out;
}

}  // namespace tiersim
