#pragma once
// The places of a design space that a search has not been at: lattices of its grids, what was
// visited, and ways to choose of the rest that never end in a loop.
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
  /// `space` outlives this.
  explicit SearchLattice(const DesignSpace& space);

  const std::vector<std::int64_t>& sizes(std::size_t grid) const { return sizes_[grid]; }

  /// Up to `count` places that spread evenly: shared out among the grids by turns; in each a Latin
  /// hypercube, every axis cut into as many strata as there are places and each stratum used once
  /// (McKay, Beckman and Conover, Technometrics 21(2), 1979). Places that are filtered away or were
  /// visited are left out.
  std::vector<SearchPlace> spread(std::int64_t count, Rng& rng) const;

  /// A place drawn from all, every grid by its size; not looked at.
  SearchPlace any(Rng& rng) const;

  /// Visits the place and gives its point; nothing where it is filtered away or was visited.
  std::optional<SpacePoint> visit(const SearchPlace& place);

  /// Visits a place drawn from those that are left, or the next of a fixed walk through all where
  /// draws find none. Nothing where no place is left.
  std::optional<std::pair<SearchPlace, SpacePoint>> visit_any(Rng& rng);

 private:
  // Every place of a grid once, in an order far from that of the axes: steps of a length that has
  // no divisor in common with the number of places, near its golden section.
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

/// A number of 0 to n - 1.
inline std::int64_t drawn_below(std::int64_t n, Rng& rng) {
  return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(n)));
}

}  // namespace tiersim
