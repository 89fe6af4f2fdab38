#pragma once
// Latin hypercube samples (McKay, Beckman and Conover, Technometrics 21(2), 239-245, 1979): of n
// points, each axis is cut into n parts and each part is met once; choices of a list are met
// equally often, give or take one. Filters are honoured without moving any marginal: a point that
// is not in the space is drawn again within its part of an axis, takes a choice that is as rare as
// its own was, or exchanges a cell with another point, until all are in the space. Equal seeds give
// equal points.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/base/rng.hpp"

namespace tiersim {

/// Along an axis of a Latin hypercube: one of its choices, or a share of the way.
struct LatinCell {
  std::int64_t choice = 0;  ///< of an axis that is cut into parts: which part
  double share = -1;        ///< in [0, 1); below 0 of an axis with choices
};
using LatinPoint = std::vector<LatinCell>;

/// Why not all points could be placed.
struct LatinProblem {
  /// Parts or choices of an axis that hold no point of the space, as far as random draws found.
  struct Empty {
    std::size_t axis = 0;
    std::vector<std::int64_t> parts = {};  ///< by rising number, at least one
  };
  std::size_t placed = 0;
  std::vector<Empty> empty = {};  ///< none: each has some, but no arrangement was found
};

/// `choices` by axis, 0 for one that is cut into parts. `name_of` tells points apart and gives
/// nothing for one that is not in the space.
Expected<std::vector<LatinPoint>, LatinProblem> latin_hypercube(
    const std::vector<std::int64_t>& choices, std::int64_t points, Rng& rng,
    const std::function<std::optional<std::string>(const LatinPoint&)>& name_of);

}  // namespace tiersim
