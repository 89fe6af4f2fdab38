#pragma once
// Latin hypercube samples (McKay, Beckman and Conover, Technometrics 21(2), 239-245, 1979): for n
// points, each axis is cut into n parts and each part is used once; choices of a list are used
// equally often, give or take one. Filters are applied without moving any marginal. A point outside
// of the space is drawn again within its part of an axis, takes a choice with an equal count, or
// exchanges a cell with another point, until all are in the space. Equal seeds give equal points.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/base/rng.hpp"

namespace tiersim {

/// A coordinate on an axis of a Latin hypercube: one of its choices, or a share of the range.
struct LatinCell {
  std::int64_t choice = 0;  ///< on an axis that is cut into parts: the part
  double share = -1;        ///< in [0, 1); below 0 on an axis with choices
};
using LatinPoint = std::vector<LatinCell>;

/// The reason why not all points could be placed.
struct LatinProblem {
  /// Parts or choices of an axis without a point of the space, as far as random draws show.
  struct Empty {
    std::size_t axis = 0;
    std::vector<std::int64_t> parts = {};  ///< by rising number, at least one
  };
  std::size_t placed = 0;
  std::vector<Empty> empty = {};  ///< empty: each has points, but no arrangement was found
};

/// `choices` by axis, 0 for an axis that is cut into parts. `name_of` identifies a point, and gives
/// nothing for a point outside of the space.
Expected<std::vector<LatinPoint>, LatinProblem> latin_hypercube(
    const std::vector<std::int64_t>& choices, std::int64_t points, Rng& rng,
    const std::function<std::optional<std::string>(const LatinPoint&)>& name_of);

}  // namespace tiersim
