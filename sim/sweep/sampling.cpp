#include "sim/sweep/sampling.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

// A space in which so few of the candidates pass is searched no longer.
constexpr std::int64_t kMostDraws = 20'000'000;

template <class T>
void shuffle(std::vector<T>& values, Rng& rng) {
  for (std::size_t left = values.size(); left > 1; --left)
    std::swap(values[left - 1], values[rng.below(left)]);
}

// Which of `choices` each point gets: all equally often, give or take one.
std::vector<std::int64_t> balanced(std::int64_t choices, std::int64_t points, Rng& rng) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(choices));
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, rng);  // which of them get one more
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < points; ++i)
    out.push_back(order[static_cast<std::size_t>(i % choices)]);
  shuffle(out, rng);
  return out;
}

// Points of a Latin hypercube that are exchanged until each is in the space and none is twice.
class Repair {
 public:
  using NameOf = std::function<std::optional<std::string>(const LatinPoint&)>;
  Repair(std::vector<LatinPoint>& points, const NameOf& name_of)
      : points_(points), name_of_(name_of), names_(points.size()) {
    for (std::size_t i = 0; i < points_.size(); ++i) enter(i);
  }

  bool run(Rng& rng) {
    const std::size_t count = points_.size();
    const std::size_t axes = points_.front().size();
    std::int64_t left =
        std::min<std::int64_t>(kMostDraws, 2000 + 500 * static_cast<std::int64_t>(count));
    std::size_t at = 0;
    while (good_ < count) {
      if (count < 2 || left-- == 0) return false;
      while (is_good(at)) at = (at + 1) % count;
      const auto other = static_cast<std::size_t>(rng.below(count));
      if (other != at) exchange(at, other, static_cast<std::size_t>(rng.below(axes)));
      at = (at + 1) % count;  // not the same one again and again
    }
    return true;
  }
  std::size_t good() const { return good_; }

 private:
  // Swaps one cell of two points, unless fewer are good then.
  void exchange(std::size_t a, std::size_t b, std::size_t axis) {
    const std::size_t before = good_;
    swap_cells(a, b, axis);
    if (good_ < before) swap_cells(a, b, axis);
  }
  void swap_cells(std::size_t a, std::size_t b, std::size_t axis) {
    leave(a);
    leave(b);
    std::swap(points_[a][axis], points_[b][axis]);
    enter(a);
    enter(b);
  }

  // A point is good where it is in the space and the only one of its name.
  bool is_good(std::size_t i) const { return names_[i] && count_.at(*names_[i]) == 1; }
  void enter(std::size_t i) {
    names_[i] = name_of_(points_[i]);
    if (!names_[i]) return;
    const int now = ++count_[*names_[i]];
    if (now == 1) ++good_;
    if (now == 2) --good_;
  }
  void leave(std::size_t i) {
    if (!names_[i]) return;
    const int now = --count_[*names_[i]];
    if (now == 0) --good_;
    if (now == 1) ++good_;
  }

  std::vector<LatinPoint>& points_;
  const NameOf& name_of_;
  std::vector<std::optional<std::string>> names_;
  std::unordered_map<std::string, int> count_;  // looked up only: its order does not matter
  std::size_t good_ = 0;
};

}  // namespace

Expected<std::vector<std::int64_t>> random_positions(
    std::int64_t total, std::int64_t points, Rng& rng,
    const std::function<bool(std::int64_t)>& passes) {
  std::vector<std::int64_t> out;
  // The shuffle of Fisher and Yates, of which only what was exchanged is kept.
  std::unordered_map<std::int64_t, std::int64_t> moved;
  const auto at = [&](std::int64_t i) {
    const auto it = moved.find(i);
    return it == moved.end() ? i : it->second;
  };
  std::int64_t drawn = 0;
  for (; drawn < std::min(total, kMostDraws); ++drawn) {
    if (static_cast<std::int64_t>(out.size()) == points) return out;
    const auto left = static_cast<std::uint64_t>(total - drawn);
    const std::int64_t pick = drawn + static_cast<std::int64_t>(rng.below(left));
    const std::int64_t position = at(pick);
    moved[pick] = at(drawn);
    moved.erase(drawn);
    if (passes(position)) out.push_back(position);
  }
  if (static_cast<std::int64_t>(out.size()) == points) return out;
  if (drawn == total) return Unexpected(fmt::format("the space has only {} points", out.size()));
  return Unexpected(fmt::format("only {} points were found in {} draws", out.size(), drawn));
}

Expected<std::vector<LatinPoint>> latin_hypercube(
    const std::vector<std::int64_t>& choices, std::int64_t points, Rng& rng,
    const std::function<std::optional<std::string>(const LatinPoint&)>& name_of) {
  TS_EXPECTS(points >= 0 && !choices.empty(), points);
  std::vector<LatinPoint> out(static_cast<std::size_t>(points), LatinPoint(choices.size()));
  if (points == 0) return out;
  for (std::size_t axis = 0; axis < choices.size(); ++axis) {
    const std::int64_t parts = choices[axis] == 0 ? points : choices[axis];
    const std::vector<std::int64_t> chosen = balanced(parts, points, rng);
    for (std::size_t i = 0; i < out.size(); ++i) {
      LatinCell& cell = out[i][axis];
      cell.choice = chosen[i];
      if (choices[axis] == 0)
        cell.share = (static_cast<double>(chosen[i]) + rng.uniform()) / static_cast<double>(points);
    }
  }
  Repair repair(out, name_of);
  if (repair.run(rng)) return out;
  return Unexpected(fmt::format("only {} of {} points could be placed", repair.good(), points));
}

}  // namespace tiersim
