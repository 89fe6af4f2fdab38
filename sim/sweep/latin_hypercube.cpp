#include "sim/sweep/latin_hypercube.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

using NameOf = std::function<std::optional<std::string>(const LatinPoint&)>;

// Number of draws without a point after which a part counts as empty; the second limits all parts.
constexpr std::int64_t kDrawsOfAPart = 1000;
constexpr std::int64_t kDrawsOfAllParts = 1'000'000;

template <class T>
void shuffle(std::vector<T>& values, Rng& rng) {
  for (std::size_t left = values.size(); left > 1; --left)
    std::swap(values[left - 1], values[rng.below(left)]);
}

// The choice of each point: all are used equally often, give or take one.
std::vector<std::int64_t> balanced(std::int64_t choices, std::int64_t points, Rng& rng) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(choices));
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, rng);  // chooses those used once more
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < points; ++i)
    out.push_back(order[static_cast<std::size_t>(i % choices)]);
  shuffle(out, rng);
  return out;
}

double share_in(std::int64_t part, std::int64_t parts, Rng& rng) {
  return (static_cast<double>(part) + rng.uniform()) / static_cast<double>(parts);
}

// Changes the points of a Latin hypercube until each is in the space and no two are equal.
class Repair {
 public:
  Repair(std::vector<LatinPoint>& points, const std::vector<std::int64_t>& choices,
         const NameOf& name_of)
      : points_(points),
        choices_(choices),
        name_of_(name_of),
        names_(points.size()),
        met_(choices.size()) {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      enter(i);
      for (std::size_t axis = 0; axis < choices.size(); ++axis)
        ++met_[axis][points_[i][axis].choice];
    }
  }

  bool run(Rng& rng) {
    const std::size_t count = points_.size();
    std::size_t left = 2000 + 500 * count;
    for (std::size_t at = 0; good_ < count; at = (at + 1) % count) {
      if (left-- == 0) return false;
      while (is_good(at)) at = (at + 1) % count;
      const auto axis = static_cast<std::size_t>(rng.below(choices_.size()));
      if (rng.below(2) == 0)
        draw_again(at, axis, rng);
      else
        exchange(at, static_cast<std::size_t>(rng.below(count)), axis);
    }
    return true;
  }
  std::size_t good() const { return good_; }
  bool is_good(std::size_t i) const { return names_[i] && count_.at(*names_[i]) == 1; }

 private:
  // Draws another share within the same part, or a choice that is used once less, so that the two
  // choices exchange their counts.
  void draw_again(std::size_t i, std::size_t axis, Rng& rng) {
    LatinCell& cell = points_[i][axis];
    const LatinCell before = cell;
    LatinCell after = before;
    if (choices_[axis] == 0) {
      after.share = share_in(cell.choice, static_cast<std::int64_t>(points_.size()), rng);
    } else {
      after.choice =
          static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(choices_[axis])));
      if (met_[axis][after.choice] + 1 != met_[axis][before.choice]) return;
    }
    const std::size_t good_before = good_;
    put(i, axis, after);
    if (good_ < good_before) put(i, axis, before);
  }
  void put(std::size_t i, std::size_t axis, const LatinCell& cell) {
    leave(i);
    --met_[axis][points_[i][axis].choice];
    points_[i][axis] = cell;
    ++met_[axis][cell.choice];
    enter(i);
  }

  // Swaps one cell of two points, unless that leaves fewer good points.
  void exchange(std::size_t a, std::size_t b, std::size_t axis) {
    if (a == b) return;
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

  // A point is good if it is in the space and the only one with its name.
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
  const std::vector<std::int64_t>& choices_;
  const NameOf& name_of_;
  std::vector<std::optional<std::string>> names_;
  std::unordered_map<std::string, int> count_;              // only looked up, so the order
  std::vector<std::unordered_map<std::int64_t, int>> met_;  // does not matter; by axis and choice
  std::size_t good_ = 0;
};

LatinPoint any_point(const std::vector<std::int64_t>& choices, std::int64_t points, Rng& rng) {
  LatinPoint out(choices.size());
  for (std::size_t axis = 0; axis < choices.size(); ++axis) {
    const std::int64_t parts = choices[axis] == 0 ? points : choices[axis];
    out[axis].choice = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(parts)));
    if (choices[axis] == 0) out[axis].share = share_in(out[axis].choice, points, rng);
  }
  return out;
}

// The parts without a placed point in which random draws find no point either.
std::vector<LatinProblem::Empty> empty_parts(const std::vector<LatinPoint>& points,
                                             const std::vector<std::int64_t>& choices,
                                             const Repair& repair, Rng& rng,
                                             const NameOf& name_of) {
  const auto count = static_cast<std::int64_t>(points.size());
  std::vector<std::map<std::int64_t, bool>> has_point(choices.size());
  std::int64_t open = 0;
  for (std::size_t axis = 0; axis < choices.size(); ++axis) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      bool& has = has_point[axis][points[i][axis].choice];
      has = has || repair.is_good(i);
    }
    open +=
        std::ranges::count(has_point[axis], false, &std::pair<const std::int64_t, bool>::second);
  }
  const std::int64_t most =
      std::min(kDrawsOfAPart, kDrawsOfAllParts / std::max<std::int64_t>(open, 1) + 1);
  std::vector<LatinProblem::Empty> out;
  for (std::size_t axis = 0; axis < choices.size(); ++axis) {
    LatinProblem::Empty empty{.axis = axis, .parts = {}};
    for (auto& [part, has] : has_point[axis]) {
      for (std::int64_t draw = 0; !has && draw < most; ++draw) {
        LatinPoint point = any_point(choices, count, rng);
        point[axis].choice = part;
        if (choices[axis] == 0) point[axis].share = share_in(part, count, rng);
        has = name_of(point).has_value();
      }
      if (!has) empty.parts.push_back(part);
    }
    if (!empty.parts.empty()) out.push_back(std::move(empty));
  }
  return out;
}

}  // namespace

Expected<std::vector<LatinPoint>, LatinProblem> latin_hypercube(
    const std::vector<std::int64_t>& choices, std::int64_t points, Rng& rng,
    const NameOf& name_of) {
  TS_EXPECTS(points >= 0 && !choices.empty(), points);
  std::vector<LatinPoint> out(static_cast<std::size_t>(points), LatinPoint(choices.size()));
  if (points == 0) return out;
  for (std::size_t axis = 0; axis < choices.size(); ++axis) {
    const std::int64_t parts = choices[axis] == 0 ? points : choices[axis];
    const std::vector<std::int64_t> chosen = balanced(parts, points, rng);
    for (std::size_t i = 0; i < out.size(); ++i) {
      LatinCell& cell = out[i][axis];
      cell.choice = chosen[i];
      if (choices[axis] == 0) cell.share = share_in(chosen[i], points, rng);
    }
  }
  Repair repair(out, choices, name_of);
  if (repair.run(rng)) return out;
  return Unexpected(LatinProblem{.placed = repair.good(),
                                 .empty = empty_parts(out, choices, repair, rng, name_of)});
}

}  // namespace tiersim
