#include "sim/base/text.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tiersim {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Distances of the prefixes of b from the prefix of a that is one shorter than the row's, two
  // shorter, and the row's own.
  std::vector<std::size_t> row(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> above_that;
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substitute = above[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({substitute, above[j + 1] + 1, row[j] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], above_that[j - 1] + 1);
    }
    above_that = std::exchange(above, row);
  }
  return above.back();
}

std::string_view nearest(std::string_view name, std::span<const std::string> candidates) {
  const std::size_t limit = std::clamp<std::size_t>(name.size() / 3, 1, 3);
  std::string_view best;
  std::size_t best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

}  // namespace tiersim
