#pragma once
// A value or an error, with the names of std::expected, which libstdc++ 12 has in C++23 only. When
// the toolchain moves on, this file becomes two using-declarations.
#include <string>
#include <utility>
#include <variant>

#include "sim/base/check.hpp"

namespace tiersim {

template <class E>
class Unexpected {
 public:
  constexpr explicit Unexpected(E error) : error_(std::move(error)) {}
  constexpr E&& take() && { return std::move(error_); }

 private:
  E error_;
};
template <class E>
Unexpected(E) -> Unexpected<E>;

/// Result of a leaf function that can fail through a mistake of the user. The compiler warns where
/// it is ignored.
template <class T, class E = std::string>
class [[nodiscard]] Expected {
 public:
  using value_type = T;
  using error_type = E;

  constexpr Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  template <class G>
  constexpr Expected(Unexpected<G> unexpected)
      : state_(std::in_place_index<1>, std::move(unexpected).take()) {}

  constexpr bool has_value() const { return state_.index() == 0; }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr const T& operator*() const& { return value(); }
  constexpr const T* operator->() const { return &value(); }
  constexpr T&& operator*() && {
    TS_EXPECTS(has_value());
    return std::get<0>(std::move(state_));
  }
  constexpr const E& error() const {
    TS_EXPECTS(!has_value());
    return std::get<1>(state_);
  }

 private:
  constexpr const T& value() const {
    TS_EXPECTS(has_value());
    return std::get<0>(state_);
  }
  std::variant<T, E> state_;
};

}  // namespace tiersim
