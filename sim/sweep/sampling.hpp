#pragma once
// Random points of a space without replacement; points that do not pass are skipped. Equal seeds
// give equal points, and the first n stay the same if more are requested.
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/base/rng.hpp"

namespace tiersim {

/// `points` different positions of [0, total) that pass. The error is their number, if that is
/// smaller.
Expected<std::vector<std::int64_t>> random_positions(
    std::int64_t total, std::int64_t points, Rng& rng,
    const std::function<bool(std::int64_t)>& passes);

}  // namespace tiersim
