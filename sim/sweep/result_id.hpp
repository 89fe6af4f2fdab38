#pragma once
// The identity of a result in memory: an id cut to 128 bits, among which chance collisions do not
// occur.
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/base/check.hpp"

namespace tiersim {

struct ResultId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const ResultId&) const = default;

  /// From 64 hexadecimal digits.
  static ResultId of(std::string_view hex) {
    constexpr std::size_t kDigits = 16;
    TS_EXPECTS(hex.size() == 4 * kDigits, hex);
    const auto word = [hex](std::size_t at) {
      std::uint64_t value = 0;
      const char* first = hex.data() + kDigits * at;
      std::from_chars(first, first + kDigits, value, 16);
      return value;
    };
    const ResultId id{word(0) ^ word(2), word(1) ^ word(3)};
    return id;
  }
};

struct ResultIdHash {
  std::size_t operator()(const ResultId& id) const { return id.low; }
};

}  // namespace tiersim
