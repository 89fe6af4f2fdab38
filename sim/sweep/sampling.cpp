#include "sim/sweep/sampling.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

namespace tiersim {
namespace {

// Limit of the draws in a space where few candidates pass.
constexpr std::int64_t kMostDraws = 20'000'000;

}  // namespace

Expected<std::vector<std::int64_t>> random_positions(
    std::int64_t total, std::int64_t points, Rng& rng,
    const std::function<bool(std::int64_t)>& passes) {
  std::vector<std::int64_t> out;
  // The shuffle of Fisher and Yates, which stores only the exchanged elements.
  std::unordered_map<std::int64_t, std::int64_t> moved;
  const auto at = [&](std::int64_t i) {
    const auto it = moved.find(i);
    return it == moved.end() ? i : it->second;
  };
  std::int64_t drawn = 0;
  for (; drawn < std::min(total, kMostDraws); ++drawn) {
    if (static_cast<std::int64_t>(out.size()) == points) return out;
    const auto left = static_cast<std::uint64_t>(total - drawn);
    const std::int64_t pick = drawn + static_cast<std::int64_t>(rng.below(left));
    const std::int64_t position = at(pick);
    moved[pick] = at(drawn);
    moved.erase(drawn);
    if (passes(position)) out.push_back(position);
  }
  if (static_cast<std::int64_t>(out.size()) == points) return out;
  if (drawn == total) return Unexpected(fmt::format("the space has only {} points", out.size()));
  return Unexpected(fmt::format("only {} points were found in {} draws", out.size(), drawn));
}

}  // namespace tiersim
