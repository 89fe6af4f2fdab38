#pragma once
// Hashes that make the names of prompt blocks: a name stands for a block and all before it.
#include <cstdint>
#include <string_view>

namespace tiersim {

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): one to one, and every bit of
/// the result depends on every bit of the number.
constexpr std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ number >> 30U) * 0xBF58476D1CE4E5B9U;
  number = (number ^ number >> 27U) * 0x94D049BB133111EBU;
  return number ^ number >> 31U;
}

/// The hash of a number and of all before it, which `before` stands for; 0 before the first one.
constexpr std::uint64_t chained(std::uint64_t before, std::uint64_t number) {
  return mixed(before + mixed(number + 0x9E3779B97F4A7C15U));
}

/// The hash of a text.
constexpr std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = 0;
  for (const char c : text) hash = chained(hash, static_cast<unsigned char>(c));
  return hash;
}

}  // namespace tiersim
