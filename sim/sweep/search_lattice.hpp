#pragma once
// The unvisited places of a design space: the lattices of its grids, the visited places, and ways
// to choose from the rest that always end.
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "sim/base/rng.hpp"
#include "sim/sweep/design_space.hpp"

namespace tiersim {

/// A place on one lattice.
struct SearchPlace {
  std::size_t grid = 0;
  DesignSpace::Coordinates at = {};

  auto operator<=>(const SearchPlace&) const = default;
};

class SearchLattice {
 public:
  /// `space` must outlive this.
  explicit SearchLattice(const DesignSpace& space);

  const std::vector<std::int64_t>& sizes(std::size_t grid) const { return sizes_[grid]; }

  /// Up to `count` places spread evenly: divided among the grids, and in each grid a Latin
  /// hypercube, in which every axis is cut into as many strata as there are places and each stratum
  /// is used once (McKay, Beckman and Conover, Technometrics 21(2), 1979). Filtered and visited
  /// places are left out.
  std::vector<SearchPlace> spread(std::int64_t count, Rng& rng) const;

  /// A place drawn from all, with every grid weighted by its size; it may be filtered or visited.
  SearchPlace any(Rng& rng) const;

  /// Visits the place and gives its point; nothing if it is filtered or already visited.
  std::optional<SpacePoint> visit(const SearchPlace& place);

  /// Visits a place drawn from the remaining ones, or the next of a fixed walk through all places
  /// if draws find none. Nothing if no place is left.
  std::optional<std::pair<SearchPlace, SpacePoint>> visit_any(Rng& rng);

 private:
  // Every place of a grid once, in an order far from that of the axes: steps of a length near the
  // golden section of the number of places and coprime to it.
  struct Walk {
    std::int64_t places = 0;
    std::int64_t step = 1;
    std::int64_t at = 0;
    std::int64_t done = 0;
  };
  SearchPlace place_of(std::size_t grid, std::int64_t index) const;

  const DesignSpace& space_;
  std::vector<std::vector<std::int64_t>> sizes_;
  std::vector<Walk> walks_;
  std::int64_t places_ = 0;
  std::set<SearchPlace> visited_;
};

/// A random number from 0 to n - 1.
inline std::int64_t drawn_below(std::int64_t n, Rng& rng) {
  return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(n)));
}

}  // namespace tiersim
