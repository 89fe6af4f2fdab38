#include "sim/config/limits.hpp"

#include <type_traits>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"

namespace tiersim {
namespace {

std::string text_of(const Number& number) {
  return std::visit(
      [](const auto& value) -> std::string {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
          return fmt::format("{}", value);
        else
          return format_quantity(value);
      },
      number);
}

}  // namespace

std::string Limits::text() const {
  if (!allowed.empty()) return join(allowed);
  if (low && high)
    return low_open ? fmt::format("above {} up to {}", text_of(*low), text_of(*high))
                    : fmt::format("{} to {}", text_of(*low), text_of(*high));
  if (low) return (low_open ? "above " : "at least ") + text_of(*low);
  return high ? "at most " + text_of(*high) : "";
}

Limits fraction() {
  return {.low = 0.0, .high = 1.0, .low_open = true};
}

Limits positive() {
  return above(0);
}

Limits any_scalar() {
  return {.any_scalar = true};
}

Limits one_of(std::initializer_list<std::string_view> words) {
  Limits limits;
  for (const std::string_view word : words) limits.allowed.emplace_back(word);
  return limits;
}

Limits one_of(std::initializer_list<std::int64_t> numbers) {
  Limits limits;
  for (const std::int64_t number : numbers) limits.allowed.push_back(std::to_string(number));
  return limits;
}

}  // namespace tiersim
