#pragma once
// Contracts, always on. A failed check is a fault of this program, never of its user: it prints the
// condition, its file and line and the values given, and aborts, because a simulator that goes on
// after a broken invariant prints plausible numbers. Mistakes in a configuration are Diagnostics
// instead.
//
//   TS_EXPECTS(when >= now_, when, now_);   // what the caller must guarantee
//   TS_ENSURES(total == sum, total, sum);   // what this function guarantees
//   TS_INVARIANT(credits >= 0, credits);    // what always holds inside a type
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace tiersim::detail {

/// The text of one value of a failed check: an integer, real, string, duration or quantity.
struct CheckValue {
  std::string text;

  template <class T>
  explicit CheckValue(const T& value) {
    if constexpr (std::is_convertible_v<T, std::string_view>) {
      text = std::string(std::string_view(value));
    } else if constexpr (std::is_enum_v<T>) {
      text = std::to_string(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
      text = std::to_string(value);
    } else if constexpr (requires { value.in_base(); }) {
      text = std::to_string(value.in_base());
    } else if constexpr (requires { value.count(); }) {
      text = std::to_string(value.count());
    } else if constexpr (requires { value.time_since_epoch(); }) {
      text = std::to_string(value.time_since_epoch().count());
    } else {
      text = std::to_string(value.value());
    }
  }
};

/// Prints `file:line: KIND violated: CONDITION [names = values]` to stderr and aborts.
[[noreturn]] void check_failed(const char* kind, const char* condition, const char* file, int line,
                               const char* names, std::initializer_list<CheckValue> values);

template <class... Values>
[[noreturn]] void fail_check(const char* kind, const char* condition, const char* file, int line,
                             const char* names, const Values&... values) {
  check_failed(kind, condition, file, line, names, {CheckValue(values)...});
}

}  // namespace tiersim::detail

#define TS_CHECK_(kind, cond, ...)                                      \
  (static_cast<bool>(cond)                                              \
       ? static_cast<void>(0)                                           \
       : ::tiersim::detail::fail_check(kind, #cond, __FILE__, __LINE__, \
                                       #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__))
#define TS_EXPECTS(cond, ...) TS_CHECK_("precondition", cond __VA_OPT__(, ) __VA_ARGS__)
#define TS_ENSURES(cond, ...) TS_CHECK_("postcondition", cond __VA_OPT__(, ) __VA_ARGS__)
#define TS_INVARIANT(cond, ...) TS_CHECK_("invariant", cond __VA_OPT__(, ) __VA_ARGS__)
