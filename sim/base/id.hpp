#pragma once
// Indices that cannot be swapped: Id<struct TierTag> and Id<struct LinkTag> are different types.
#include <compare>
#include <cstddef>
#include <cstdint>

#include "sim/base/check.hpp"

namespace tiersim {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : index_(static_cast<std::uint32_t>(index)) {
    TS_EXPECTS(index < kNone, index);
  }
  constexpr bool valid() const { return index_ != kNone; }
  /// Index into the vector that owns the named objects.
  constexpr std::size_t index() const {
    TS_EXPECTS(valid());
    return index_;
  }
  constexpr std::uint32_t value() const { return index_; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  std::uint32_t index_ = kNone;
};

}  // namespace tiersim
