#pragma once
// Integer arithmetic of the flow network: units of rate and progress, and a * b / c without
// overflow. A function that rounds says in its name in which direction.
#include <cstdint>

#include "sim/base/check.hpp"
#include "sim/base/units.hpp"
#include "sim/core/flow_network.hpp"

namespace tiersim::flow {

/// Rates of progress are whole multiples of 1/kQuantum bytes a second: lcm(1..24), so that every
/// equal split among up to 24 flows is exact.
inline constexpr std::uint64_t kQuantum = kFlowRateQuantum;
/// Shares are first computed with this many more bits, so that errors of shares that depend on
/// other shares stay below the guard.
inline constexpr unsigned kFineBits = 14;
/// Capacity taken per unit of payload rate and weight, in units of 2^-60.
inline constexpr unsigned kLoadBits = 60;
inline constexpr UInt128 kLoadOne = UInt128{1} << kLoadBits;

/// A payload rate per weight in fine units, 1/(kQuantum * 2^kFineBits) B/s.
using Level = UInt128;
/// Progress: payload per weight in units of 1/(kQuantum * 1e12) B, so that a rate in quanta is the
/// progress in one picosecond. Wraps around; only differences are ever used.
using Ticks = UInt128;
inline constexpr UInt128 kTicksPerByte =
    UInt128{kQuantum} * static_cast<std::uint64_t>(kPicosecondsPerSecond);

/// Ticks as stored in structs, in two halves: one 128-bit store would gather them from two
/// registers through the stack and wait for it.
class StoredTicks {
 public:
  constexpr StoredTicks(Ticks ticks)
      : low_(static_cast<std::uint64_t>(ticks)), high_(static_cast<std::uint64_t>(ticks >> 64U)) {}
  constexpr operator Ticks() const { return Ticks{high_} << 64U | low_; }

 private:
  std::uint64_t low_, high_;
};

inline constexpr Level kNoLevel = UInt128{1} << 127U;

/// The amount taken off a share that depends on an inexact one: 1/32 of a quantum, and 2^-52 of the
/// share for the rounding of loads.
constexpr Level guard_of(Level share) {
  return (Level{1} << (kFineBits - 5)) + (share >> 52U);
}

struct Division {
  UInt128 quotient;
  bool exact;
};

struct Wide {
  UInt128 high, low;
};

constexpr Wide multiply(UInt128 a, UInt128 b) {
  constexpr UInt128 kMask = ~std::uint64_t{0};
  const UInt128 a0 = a & kMask, a1 = a >> 64U, b0 = b & kMask, b1 = b >> 64U;
  const UInt128 low = a0 * b0, cross = a1 * b0 + (low >> 64U);
  const UInt128 middle = a0 * b1 + (cross & kMask);
  return {a1 * b1 + (cross >> 64U) + (middle >> 64U), middle << 64U | (low & kMask)};
}

/// One digit (base 2^64) of the division below: top:next / divisor, with top < divisor, whose
/// highest bit is set. Leaves the remainder in top.
constexpr std::uint64_t divide_digit(UInt128& top, std::uint64_t next, UInt128 divisor) {
  const auto d1 = static_cast<std::uint64_t>(divisor >> 64U);
  const auto d0 = static_cast<std::uint64_t>(divisor);
  UInt128 digit = top / d1;
  UInt128 rest = top % d1;
  while (digit >> 64U != 0 || digit * d0 > (rest << 64U | next)) {
    --digit;
    rest += d1;
    if (rest >> 64U != 0) break;
  }
  top = (top << 64U | next) - digit * divisor;
  return static_cast<std::uint64_t>(digit);
}

/// n / divisor for a quotient of at most 128 bits, that is, n.high < divisor (Knuth, vol. 2,
/// algorithm 4.3.1D with two digits).
constexpr Division divide(Wide n, UInt128 divisor) {
  TS_EXPECTS(n.high < divisor);
  if (n.high == 0) return {n.low / divisor, n.low % divisor == 0};
  const auto top = static_cast<std::uint64_t>(divisor >> 64U);
  const unsigned shift = static_cast<unsigned>(
      top != 0 ? __builtin_clzll(top) : 64 + __builtin_clzll(static_cast<std::uint64_t>(divisor)));
  if (shift != 0) {
    divisor <<= shift;
    n.high = n.high << shift | n.low >> (128U - shift);
    n.low <<= shift;
  }
  const UInt128 upper = divide_digit(n.high, static_cast<std::uint64_t>(n.low >> 64U), divisor);
  const UInt128 lower = divide_digit(n.high, static_cast<std::uint64_t>(n.low), divisor);
  return {upper << 64U | lower, n.high == 0};
}

/// floor(a * b / c), and if that is exact; a quotient of 2^128 or more is a fault.
constexpr Division multiply_divide(UInt128 a, UInt128 b, UInt128 c) {
  return divide(multiply(a, b), c);
}

constexpr UInt128 rounded_up(Division d) {
  return d.quotient + (d.exact ? 0U : 1U);
}

/// A duration in picoseconds of a whole flow, as a rational number.
struct Pace {
  UInt128 numerator = 0;
  UInt128 denominator = 1;
  friend bool operator==(const Pace&, const Pace&) = default;
};

/// The duration of `wire` bytes on a link of `capacity` B/s.
constexpr Pace pace_of(std::uint64_t wire, std::int64_t capacity) {
  return {UInt128{wire} * static_cast<std::uint64_t>(kPicosecondsPerSecond),
          static_cast<std::uint64_t>(capacity)};
}

/// The longer duration; b if they are equal.
constexpr Pace slower(const Pace& a, const Pace& b) {
  const Wide x = multiply(a.numerator, b.denominator);
  const Wide y = multiply(b.numerator, a.denominator);
  return (x.high != y.high ? x.high > y.high : x.low > y.low) ? a : b;
}

/// ceil(a / b)
constexpr UInt128 divide_up(UInt128 a, UInt128 b) {
  return a / b + (a % b != 0 ? 1U : 0U);
}

/// Divides by one number many times: multiplies by its inverse to 64 bits and corrects the error
/// (Moeller and Granlund, Improved division by invariant integers, IEEE Trans. Comp. 60:2).
class Divider {
 public:
  UInt128 divisor() const { return divisor_; }

  /// 0 < divisor < 2^126
  constexpr void set(UInt128 divisor) {
    divisor_ = divisor;
    const auto high = static_cast<std::uint64_t>(divisor >> 64U);
    const auto low = static_cast<std::uint64_t>(divisor);
    shift_ = static_cast<unsigned>(high != 0 ? __builtin_clzll(high) : 64 + __builtin_clzll(low));
    const auto leading = static_cast<std::uint64_t>(divisor << shift_ >> 64U);
    inverse_ = static_cast<std::uint64_t>(~UInt128{0} / leading);  // minus 2^64
    limit_ = high < 4 ? static_cast<std::uint64_t>(divisor >> 2U) : ~std::uint64_t{0};
  }
  /// True where divide_up() can be used, that is, for a quotient below 2^62.
  constexpr bool fits(UInt128 n) const { return static_cast<std::uint64_t>(n >> 64U) < limit_; }
  /// ceil(n / divisor); fits(n).
  constexpr std::uint64_t divide_up(UInt128 n) const {
    const UInt128 u = shift_ <= 64 ? n >> (64 - shift_) : n << (shift_ - 64);
    const UInt128 product = UInt128{inverse_} * static_cast<std::uint64_t>(u >> 64U) + u;
    auto quotient = static_cast<std::uint64_t>(product >> 64U) + 1;
    UInt128 excess = quotient * divisor_ - n;
    // The quotient is one too low half of the time, so there is no branch.
    const auto low = static_cast<std::uint64_t>(excess >> 127U);
    quotient += low;
    excess += divisor_ & (0 - UInt128{low});
    while (excess >= divisor_) [[unlikely]] {  // above it, or below 0
        const bool below = static_cast<Int128>(excess) < 0;
        quotient += below ? 1U : ~std::uint64_t{0};
        excess += below ? divisor_ : 0 - divisor_;
      }
    return quotient;
  }

 private:
  UInt128 divisor_ = 0;
  std::uint64_t inverse_ = 0;
  std::uint64_t limit_ = 0;  ///< limit of the upper half of the dividend
  unsigned shift_ = 0;
};

/// remaining / load, rounded down: the level at which flows of total `load` fill `remaining` (fine
/// units).
constexpr Division level_of(UInt128 remaining, UInt128 load) {
  if ((load & (kLoadOne - 1)) == 0) {  // headers aside, the common case
    const UInt128 whole = load >> kLoadBits;
    const UInt128 quotient = remaining / whole;
    return {quotient, quotient * whole == remaining};
  }
  const Wide n{remaining >> (128U - kLoadBits), remaining << kLoadBits};
  if (n.high >= load) return {kNoLevel, false};
  return divide(n, load);
}

/// level * load, rounded up: the capacity that flows of total `load` take at `level`, in fine
/// units.
constexpr Division taken_at(Level level, UInt128 load) {
  if ((load & (kLoadOne - 1)) == 0) return {level * (load >> kLoadBits), true};
  const Wide product = multiply(level, load);
  const bool exact = (product.low & (kLoadOne - 1)) == 0;
  const UInt128 floor = product.high << (128U - kLoadBits) | product.low >> kLoadBits;
  return {floor + (exact ? 0U : 1U), exact};
}

}  // namespace tiersim::flow
