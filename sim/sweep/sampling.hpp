#pragma once
// Some points of a space at random, without replacement; points that do not pass are passed over.
// Equal seeds give equal points, and the first n do not change where more are asked for.
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/base/rng.hpp"

namespace tiersim {

/// `points` different positions of [0, total) that pass. The error is how many there are, where
/// that is fewer.
Expected<std::vector<std::int64_t>> random_positions(
    std::int64_t total, std::int64_t points, Rng& rng,
    const std::function<bool(std::int64_t)>& passes);

}  // namespace tiersim
