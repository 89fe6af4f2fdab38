#include "sim/sweep/search_lattice.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tiersim {
namespace {

constexpr int kDraws = 200;  // limit of draws: finds one in a hundred remaining places

std::vector<std::int64_t> shuffled(std::int64_t count, Rng& rng) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), std::int64_t{0});
  for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[rng.below(i)]);
  return out;
}

// One of the elements of an axis that stratum `i` of `strata` covers.
std::int64_t in_stratum(std::int64_t i, std::int64_t strata, std::int64_t size, Rng& rng) {
  const double at = (static_cast<double>(i) + rng.uniform()) / static_cast<double>(strata);
  return std::min(size - 1, static_cast<std::int64_t>(at * static_cast<double>(size)));
}

}  // namespace

SearchLattice::SearchLattice(const DesignSpace& space) : space_(space) {
  for (std::size_t grid = 0; grid < space.grids(); ++grid) {
    sizes_.push_back(space.sizes(grid));
    Walk walk{.places = 1};
    for (const std::int64_t size : sizes_.back()) walk.places *= size;
    walk.step = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(0.618 * static_cast<double>(walk.places)));
    while (std::gcd(walk.step, walk.places) > 1) ++walk.step;
    places_ += walk.places;
    walks_.push_back(walk);
  }
}

SearchPlace SearchLattice::place_of(std::size_t grid, std::int64_t index) const {
  SearchPlace out{.grid = grid, .at = DesignSpace::Coordinates(sizes_[grid].size())};
  for (std::size_t axis = out.at.size(); axis-- > 0; index /= sizes_[grid][axis])
    out.at[axis] = index % sizes_[grid][axis];
  return out;
}

std::vector<SearchPlace> SearchLattice::spread(std::int64_t count, Rng& rng) const {
  const auto grids = static_cast<std::int64_t>(sizes_.size());
  std::vector<SearchPlace> out;
  std::set<SearchPlace> known = visited_;
  for (std::int64_t grid = 0; grid < grids; ++grid) {
    const auto g = static_cast<std::size_t>(grid);
    const std::int64_t share = (count + grids - 1 - grid) / grids;  // the first grids take the rest
    std::vector<std::vector<std::int64_t>> strata;
    for (std::size_t axis = 0; axis < sizes_[g].size(); ++axis)
      strata.push_back(shuffled(share, rng));
    for (std::int64_t i = 0; i < share; ++i) {
      SearchPlace place{.grid = g, .at = {}};
      for (std::size_t axis = 0; axis < sizes_[g].size(); ++axis)
        place.at.push_back(
            in_stratum(strata[axis][static_cast<std::size_t>(i)], share, sizes_[g][axis], rng));
      if (space_.at(g, place.at) && known.insert(place).second) out.push_back(std::move(place));
    }
  }
  return out;
}

SearchPlace SearchLattice::any(Rng& rng) const {
  std::int64_t index = drawn_below(places_, rng);
  for (std::size_t grid = 0; grid + 1 < walks_.size(); ++grid) {
    if (index < walks_[grid].places) return place_of(grid, index);
    index -= walks_[grid].places;
  }
  return place_of(walks_.size() - 1, index);
}

std::optional<SpacePoint> SearchLattice::visit(const SearchPlace& place) {
  if (visited_.contains(place)) return std::nullopt;
  std::optional<SpacePoint> point = space_.at(place.grid, place.at);
  if (point) visited_.insert(place);
  return point;
}

std::optional<std::pair<SearchPlace, SpacePoint>> SearchLattice::visit_any(Rng& rng) {
  if (places_ == 0) return std::nullopt;
  for (int draw = 0; draw < kDraws; ++draw) {
    SearchPlace place = any(rng);
    if (auto point = visit(place)) return std::pair(std::move(place), *std::move(point));
  }
  for (std::size_t grid = 0; grid < walks_.size(); ++grid) {
    Walk& walk = walks_[grid];
    while (walk.done < walk.places) {
      SearchPlace place = place_of(grid, walk.at);
      walk.at = (walk.at + walk.step) % walk.places;
      ++walk.done;
      if (auto point = visit(place)) return std::pair(std::move(place), *std::move(point));
    }
  }
  return std::nullopt;
}

}  // namespace tiersim
