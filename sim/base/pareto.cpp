#include "sim/base/pareto.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool has_place(const Objectives& point) {
  return std::ranges::all_of(point, [](double value) { return std::isfinite(value); });
}

// The points as costs: maximized objectives are negated, so that the code below only minimizes.
std::vector<Objectives> as_costs(const std::vector<Objectives>& points, const Senses& directions) {
  std::vector<Objectives> out = points;
  for (Objectives& point : out) {
    TS_EXPECTS(point.size() == directions.size(), point.size(), directions.size());
    for (std::size_t k = 0; k < point.size(); ++k)
      if (directions[k] == Sense::maximize) point[k] = -point[k];
  }
  return out;
}

bool beats(const Objectives& a, const Objectives& b) {
  bool better = false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] > b[k]) return false;
    better = better || a[k] < b[k];
  }
  return better;
}

// Points with finite values in lexicographic order of their costs, in which no point is dominated
// by a later one.
std::vector<std::size_t> placed_in_order(const std::vector<Objectives>& costs) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (has_place(costs[i])) out.push_back(i);
  std::ranges::stable_sort(out, [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
  return out;
}

bool beaten_by_any(const std::vector<Objectives>& costs, const std::vector<std::size_t>& front,
                   std::size_t point) {
  // The newest member first: for two objectives it alone decides, since the second falls along the
  // front.
  return std::any_of(front.rbegin(), front.rend(),
                     [&](std::size_t other) { return beats(costs[other], costs[point]); });
}

double range_volume(std::vector<Objectives> costs, const Objectives& reference, std::size_t used);

// The area for two objectives, under a staircase.
double staircase(std::vector<Objectives>& costs, const Objectives& reference) {
  std::ranges::sort(costs, {}, [](const Objectives& c) { return std::pair(c[0], c[1]); });
  double area = 0;
  double lowest = reference[1];
  for (const Objectives& c : costs) {
    if (c[1] >= lowest) continue;
    area += (reference[0] - c[0]) * (lowest - c[1]);
    lowest = c[1];
  }
  return area;
}

// The volume of the first `used` objectives, in slices along the last of them. A slice is as thick
// as the distance to the next point, and its base is the volume of the points so far in the other
// objectives.
double range_volume(std::vector<Objectives> costs, const Objectives& reference, std::size_t used) {
  if (costs.empty()) return 0;
  if (used == 1) return reference[0] - std::ranges::min(costs, {}, [](auto& c) { return c[0]; })[0];
  if (used == 2) return staircase(costs, reference);
  const std::size_t last = used - 1;
  std::ranges::stable_sort(costs, {}, [&](const Objectives& c) { return c[last]; });
  double volume = 0;
  std::vector<Objectives> below;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    below.push_back(costs[i]);
    const double next = i + 1 < costs.size() ? costs[i + 1][last] : reference[last];
    if (next > costs[i][last])
      volume += (next - costs[i][last]) * range_volume(below, reference, last);
  }
  return volume;
}

}  // namespace

std::vector<std::size_t> pareto_front(const std::vector<Objectives>& points,
                                      const Senses& directions) {
  const std::vector<Objectives> costs = as_costs(points, directions);
  std::vector<std::size_t> front;
  double lowest = kInfinity;  // lowest second objective so far, for two objectives
  for (const std::size_t i : placed_in_order(costs)) {
    if (directions.size() == 2) {
      const bool twin = !front.empty() && costs[front.back()] == costs[i];
      if (!twin && costs[i][1] >= lowest) continue;
      lowest = costs[i][1];
    } else if (beaten_by_any(costs, front, i)) {
      continue;
    }
    front.push_back(i);
  }
  std::ranges::sort(front);
  return front;
}

std::vector<std::optional<std::size_t>> pareto_ranks(const std::vector<Objectives>& points,
                                                     const Senses& directions) {
  const std::vector<Objectives> costs = as_costs(points, directions);
  std::vector<std::optional<std::size_t>> ranks(points.size());
  std::vector<std::vector<std::size_t>> fronts;
  for (const std::size_t i : placed_in_order(costs)) {
    std::size_t rank = 0;
    while (rank < fronts.size() && beaten_by_any(costs, fronts[rank], i)) ++rank;
    if (rank == fronts.size()) fronts.emplace_back();
    fronts[rank].push_back(i);
    ranks[i] = rank;
  }
  return ranks;
}

std::vector<double> crowding_distances(const std::vector<Objectives>& points) {
  std::vector<double> out(points.size(), 0.0);
  if (points.empty()) return out;
  std::vector<std::size_t> order(points.size());
  for (std::size_t k = 0; k < points.front().size(); ++k) {
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return points[i][k]; });
    const double range = points[order.back()][k] - points[order.front()][k];
    out[order.front()] = kInfinity;
    out[order.back()] = kInfinity;
    if (!(range > 0)) continue;
    for (std::size_t i = 1; i + 1 < order.size(); ++i)
      out[order[i]] += (points[order[i + 1]][k] - points[order[i - 1]][k]) / range;
  }
  return out;
}

double hypervolume(const std::vector<Objectives>& points, const Objectives& reference,
                   const Senses& directions) {
  TS_EXPECTS(!directions.empty() && reference.size() == directions.size(), reference.size(),
             directions.size());
  const Objectives limit = as_costs({reference}, directions)[0];
  std::vector<Objectives> inside;
  const std::vector<std::size_t> front = pareto_front(points, directions);
  const std::vector<Objectives> costs = as_costs(points, directions);
  for (const std::size_t i : front) {
    bool better = true;
    for (std::size_t k = 0; k < limit.size(); ++k) better = better && costs[i][k] < limit[k];
    if (better) inside.push_back(costs[i]);
  }
  return range_volume(std::move(inside), limit, directions.size());
}

Objectives worst_of(const std::vector<Objectives>& points, const Senses& directions) {
  Objectives out;
  for (const Objectives& point : points) {
    TS_EXPECTS(point.size() == directions.size(), point.size(), directions.size());
    if (!has_place(point)) continue;
    if (out.empty()) out = point;
    for (std::size_t k = 0; k < point.size(); ++k)
      out[k] = directions[k] == Sense::maximize ? std::min(out[k], point[k])
                                                : std::max(out[k], point[k]);
  }
  return out;
}

std::optional<std::size_t> knee_point(const std::vector<Objectives>& points,
                                      const Senses& directions) {
  const std::vector<std::size_t> front = pareto_front(points, directions);
  if (front.empty()) return std::nullopt;
  const std::vector<Objectives> costs = as_costs(points, directions);
  Objectives best = costs[front.front()];
  Objectives worst = best;
  for (const std::size_t i : front)
    for (std::size_t k = 0; k < best.size(); ++k) {
      best[k] = std::min(best[k], costs[i][k]);
      worst[k] = std::max(worst[k], costs[i][k]);
    }
  std::size_t nearest = front.front();
  double least = kInfinity;
  for (const std::size_t i : front) {
    double sum = 0;
    for (std::size_t k = 0; k < best.size(); ++k) {
      if (worst[k] == best[k]) continue;
      const double away = (costs[i][k] - best[k]) / (worst[k] - best[k]);
      sum += away * away;
    }
    if (sum < least) {
      least = sum;
      nearest = i;
    }
  }
  return nearest;
}

}  // namespace tiersim
