#pragma once
// Design spaces that are plain lattices, for tests of algorithms that walk through them.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/sweep/design_space.hpp"

namespace tiersim::testing {

class LatticeSpace final : public DesignSpace {
 public:
  using Filter = std::function<bool(std::size_t grid, const Coordinates& place)>;

  explicit LatticeSpace(std::vector<std::vector<std::int64_t>> sizes, Filter keep = {})
      : sizes_(std::move(sizes)), keep_(std::move(keep)) {
    for (std::size_t axis = 0; axis < sizes_.front().size(); ++axis)
      columns_.push_back({.name = "x" + std::to_string(axis), .numeric = true});
  }

  const std::vector<SpaceColumn>& columns() const override { return columns_; }
  std::int64_t candidates() const override {
    std::int64_t all = 0;
    for (const auto& sizes : sizes_) {
      std::int64_t places = 1;
      for (const std::int64_t size : sizes) places *= size;
      all += places;
    }
    return all;
  }
  std::optional<Diagnostic> for_each(
      const std::function<bool(const SpacePoint&)>& visit) const override {
    std::int64_t position = 0;
    for (std::size_t grid = 0; grid < grids(); ++grid) {
      Coordinates place(sizes_[grid].size(), 0);
      for (bool more = true; more; more = advance(grid, place)) {
        std::optional<SpacePoint> point = at(grid, place);
        if (!point) continue;
        point->position = position++;
        if (!visit(*point)) return std::nullopt;
      }
    }
    return std::nullopt;
  }
  std::size_t grids() const override { return sizes_.size(); }
  std::vector<std::int64_t> sizes(std::size_t grid) const override { return sizes_[grid]; }
  std::optional<SpacePoint> at(std::size_t grid, const Coordinates& place) const override {
    if (keep_ && !keep_(grid, place)) return std::nullopt;
    SpacePoint out{.scenario = "grid" + std::to_string(grid)};
    for (const std::int64_t i : place) out.labels.push_back(std::to_string(i));
    return out;
  }

 private:
  // Moves to the next point, the last axis fastest; false after the last one.
  bool advance(std::size_t grid, Coordinates& place) const {
    for (std::size_t axis = place.size(); axis-- > 0;) {
      if (++place[axis] < sizes_[grid][axis]) return true;
      place[axis] = 0;
    }
    return false;
  }

  std::vector<std::vector<std::int64_t>> sizes_;
  Filter keep_;
  std::vector<SpaceColumn> columns_;
};

/// The coordinates of a point of such a space.
inline std::vector<double> coordinates(const SpacePoint& point) {
  std::vector<double> out;
  for (const std::string& label : point.labels) out.push_back(std::stod(label));
  return out;
}

}  // namespace tiersim::testing
