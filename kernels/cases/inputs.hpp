// Random inputs from a seed, the same on every machine (SplitMix64: Steele, Lea, Flood, 2014).
#pragma once
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/cases/random.hpp"

namespace tiersim::kernels {

// `count` distinct numbers below `bound` in random order; count <= bound.
inline std::vector<int> distinct_numbers(std::int64_t count, std::int64_t bound,
                                         std::uint64_t seed) {
  std::vector<int> numbers(static_cast<std::size_t>(bound));
  std::iota(numbers.begin(), numbers.end(), 0);
  Random draw(seed);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    std::swap(numbers[i], numbers[i + draw.below(numbers.size() - i)]);
  }
  numbers.resize(static_cast<std::size_t>(count));
  return numbers;
}

// 32-bit words; the copies of the ceilings use them in units of 16 bytes.
inline std::vector<std::uint32_t> random_words(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> words(count);
  Random draw(seed);
  for (auto& word : words) word = static_cast<std::uint32_t>(draw.next());
  return words;
}

}  // namespace tiersim::kernels
