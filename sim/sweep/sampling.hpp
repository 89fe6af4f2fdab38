#pragma once
// Some points of a space: at random without replacement, or by Latin hypercube (McKay, Beckman and
// Conover, Technometrics 21(2), 239-245, 1979): of n points, each axis is cut into n parts and each
// part is met once; choices of a list are met equally often, give or take one. Filters are
// honoured: random points are drawn on, and parts of a Latin hypercube are exchanged between its
// points until all are in the space, which keeps every marginal. Equal seeds give equal points; of
// a random sample the first n do not change where more are asked for.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/base/rng.hpp"

namespace tiersim {

/// `points` different positions of [0, total) that pass. The error is how many there are, where
/// that is fewer.
Expected<std::vector<std::int64_t>> random_positions(
    std::int64_t total, std::int64_t points, Rng& rng,
    const std::function<bool(std::int64_t)>& passes);

/// Along an axis of a Latin hypercube: one of its choices, or a share of the way.
struct LatinCell {
  std::int64_t choice = 0;
  double share = -1;  ///< in [0, 1); below 0 of an axis with choices
};
using LatinPoint = std::vector<LatinCell>;

/// `choices` by axis, 0 for one that is cut into parts. `name_of` tells points apart and gives
/// nothing for one that is not in the space. The error is how many could be placed.
Expected<std::vector<LatinPoint>> latin_hypercube(
    const std::vector<std::int64_t>& choices, std::int64_t points, Rng& rng,
    const std::function<std::optional<std::string>(const LatinPoint&)>& name_of);

}  // namespace tiersim
