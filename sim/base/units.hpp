#pragma once
// Strong types for everything that has a unit. The operators below are the complete list of legal
// arithmetic across dimensions: if an expression does not compile, the formula is wrong. Every
// operation checks for overflow and throws UnitOverflow. A size beyond 9.2e18 bytes or a time
// beyond 106 days comes from a configuration, so the user gets a message. Transfers round up, so
// that nothing ever finishes early; energy and money round up too. The text forms ("4800 GB/s") are
// in units_text.hpp.
#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <ratio>
#include <stdexcept>

#include "sim/base/check.hpp"

namespace tiersim {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

inline constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;

/// Simulated time in whole picoseconds, so that event order never depends on rounding.
/// 2^63 ps are 106 days.
using Duration = std::chrono::duration<std::int64_t, std::pico>;

struct SimClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SimClock>;
  static constexpr bool is_steady = true;
};
/// A point in simulated time, never negative.
using SimTime = SimClock::time_point;

constexpr double to_seconds(Duration d) {
  return static_cast<double>(d.count()) * 1e-12;
}

/// Thrown for a result that no quantity can hold.
struct UnitOverflow : std::overflow_error {
  UnitOverflow() : std::overflow_error("a size beyond 9.2e18 bytes or a time beyond 106 days") {}
};

/// `duration * count`, checked; both >= 0.
constexpr Duration repeated(Duration duration, std::int64_t count) {
  std::int64_t ps = 0;
  if (__builtin_mul_overflow(duration.count(), count, &ps)) throw UnitOverflow();
  return Duration(ps);
}

/// A whole number of base units of one dimension.
template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  static constexpr Quantity from_base(std::int64_t base) { return Quantity(base); }
  constexpr std::int64_t in_base() const { return base_; }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.base_, b.base_, &sum)) throw UnitOverflow();
    return Quantity(sum);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a.base_, b.base_, &difference)) throw UnitOverflow();
    return Quantity(difference);
  }
  friend constexpr Quantity operator*(Quantity a, std::int64_t k) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a.base_, k, &product)) throw UnitOverflow();
    return Quantity(product);
  }
  friend constexpr Quantity operator*(std::int64_t k, Quantity a) { return a * k; }
  /// The ratio of two quantities of one dimension is a plain number.
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.base_) / static_cast<double>(b.base_);
  }
  constexpr Quantity& operator+=(Quantity b) { return *this = *this + b; }
  constexpr Quantity& operator-=(Quantity b) { return *this = *this - b; }

 private:
  constexpr explicit Quantity(std::int64_t base) : base_(base) {}
  std::int64_t base_ = 0;
};

using Bytes = Quantity<struct BytesTag>;          ///< base unit: 1 byte
using Bandwidth = Quantity<struct BandwidthTag>;  ///< base unit: 1 byte per second
using Flops = Quantity<struct FlopsTag>;          ///< base unit: 1 floating-point operation
using FlopRate = Quantity<struct FlopRateTag>;    ///< base unit: 1 operation per second

using Energy = Quantity<struct EnergyTag>;  ///< base unit: 1 nJ, so that 106 days at 1 kW fit
using EnergyPerByte = Quantity<struct EnergyPerByteTag>;    ///< base unit: 1 fJ/B
using EnergyPerFlop = Quantity<struct EnergyPerFlopTag>;    ///< base unit: 1 aJ per operation
using Power = Quantity<struct PowerTag>;                    ///< base unit: 1 mW
using Money = Quantity<struct MoneyTag>;                    ///< base unit: 1e-9 USD
using MoneyPerByte = Quantity<struct MoneyPerByteTag>;      ///< base unit: 1e-9 USD per 1e9 bytes
using MoneyPerEnergy = Quantity<struct MoneyPerEnergyTag>;  ///< base unit: 1e-9 USD/kWh

/// `List<Before..., every quantity>`: the one list of all types with a unit and a text form.
template <template <class...> class List, class... Before>
using WithQuantities =
    List<Before..., Bytes, Bandwidth, Flops, FlopRate, Duration, Energy, EnergyPerByte,
         EnergyPerFlop, Power, Money, MoneyPerByte, MoneyPerEnergy>;

constexpr double to_joules(Energy energy) {
  return static_cast<double>(energy.in_base()) * 1e-9;
}
constexpr double to_watts(Power power) {
  return static_cast<double>(power.in_base()) * 1e-3;
}
constexpr double to_usd(Money money) {
  return static_cast<double>(money.in_base()) * 1e-9;
}

namespace detail {
/// ceil(amount * 1e12 / rate) in picoseconds; amount >= 0, rate > 0.
constexpr Duration time_for(std::int64_t amount, std::int64_t rate) {
  TS_EXPECTS(amount >= 0 && rate > 0, amount, rate);
  const Int128 ps = (Int128{amount} * kPicosecondsPerSecond + rate - 1) / rate;
  if (ps > std::numeric_limits<std::int64_t>::max()) throw UnitOverflow();
  return Duration(static_cast<std::int64_t>(ps));
}
/// ceil(a * b / divisor); a, b >= 0.
template <class Result>
constexpr Result product(std::int64_t a, std::int64_t b, std::int64_t divisor) {
  TS_EXPECTS(a >= 0 && b >= 0, a, b);
  const Int128 base = (Int128{a} * b + divisor - 1) / divisor;
  if (base > std::numeric_limits<std::int64_t>::max()) throw UnitOverflow();
  return Result::from_base(static_cast<std::int64_t>(base));
}
}  // namespace detail

/// Time to move `n` bytes at `bandwidth`, rounded up to a picosecond.
constexpr Duration operator/(Bytes n, Bandwidth bandwidth) {
  return detail::time_for(n.in_base(), bandwidth.in_base());
}
/// Time of `n` operations at `rate`, rounded up to a picosecond.
constexpr Duration operator/(Flops n, FlopRate rate) {
  return detail::time_for(n.in_base(), rate.in_base());
}

/// Energy of moving, computing or idling, rounded up to 1 nJ.
constexpr Energy operator*(Bytes n, EnergyPerByte each) {
  return detail::product<Energy>(n.in_base(), each.in_base(), 1'000'000);  // fJ in 1 nJ
}
constexpr Energy operator*(Flops n, EnergyPerFlop each) {
  return detail::product<Energy>(n.in_base(), each.in_base(), 1'000'000'000);  // aJ in 1 nJ
}
constexpr Energy operator*(Power power, Duration time) {
  return detail::product<Energy>(power.in_base(), time.count(), 1'000'000);  // mW ps in 1 nJ
}
/// Cost of memory or energy, rounded up to 1e-9 USD.
constexpr Money operator*(Bytes n, MoneyPerByte each) {
  return detail::product<Money>(n.in_base(), each.in_base(), 1'000'000'000);
}
constexpr Money operator*(Energy energy, MoneyPerEnergy each) {
  constexpr std::int64_t kNanojoulesPerKilowattHour = 3'600'000'000'000'000;
  return detail::product<Money>(energy.in_base(), each.in_base(), kNanojoulesPerKilowattHour);
}

/// `quantity * factor`, rounded up to a whole base unit; factor >= 0.
template <class Tag>
constexpr Quantity<Tag> scale_up(Quantity<Tag> quantity, double factor) {
  const double scaled = static_cast<double>(quantity.in_base()) * factor;
  TS_EXPECTS(factor >= 0, quantity, factor);
  if (scaled >= 9.2e18) throw UnitOverflow();
  const auto whole = static_cast<std::int64_t>(scaled);
  return Quantity<Tag>::from_base(static_cast<double>(whole) < scaled ? whole + 1 : whole);
}
/// `quantity * factor`, rounded down to a whole base unit; factor >= 0.
template <class Tag>
constexpr Quantity<Tag> scale_down(Quantity<Tag> quantity, double factor) {
  const double scaled = static_cast<double>(quantity.in_base()) * factor;
  TS_EXPECTS(factor >= 0, quantity, factor);
  if (scaled >= 9.2e18) throw UnitOverflow();
  return Quantity<Tag>::from_base(static_cast<std::int64_t>(scaled));
}

/// ceil(n / granule) * granule: the bytes that a device moves if it moves whole granules only.
constexpr Bytes round_up(Bytes n, Bytes granule) {
  TS_EXPECTS(n.in_base() >= 0 && granule.in_base() > 0, n, granule);
  const std::int64_t count =
      n.in_base() / granule.in_base() + (n.in_base() % granule.in_base() != 0);
  return granule * count;
}

namespace literals {
constexpr Bytes operator""_B(unsigned long long n) {
  return Bytes::from_base(static_cast<std::int64_t>(n));
}
constexpr Bytes operator""_KiB(unsigned long long n) {
  return 1024 * operator""_B(n);
}
constexpr Bytes operator""_MiB(unsigned long long n) {
  return 1024 * operator""_KiB(n);
}
constexpr Bytes operator""_GiB(unsigned long long n) {
  return 1024 * operator""_MiB(n);
}
constexpr Bytes operator""_GB(unsigned long long n) {
  return 1'000'000'000 * operator""_B(n);
}
constexpr Bandwidth operator""_GBps(unsigned long long n) {
  return 1'000'000'000 * Bandwidth::from_base(static_cast<std::int64_t>(n));
}
constexpr Flops operator""_GFLOP(unsigned long long n) {
  return 1'000'000'000 * Flops::from_base(static_cast<std::int64_t>(n));
}
constexpr FlopRate operator""_TFLOPps(unsigned long long n) {
  return 1'000'000'000'000 * FlopRate::from_base(static_cast<std::int64_t>(n));
}
}  // namespace literals

}  // namespace tiersim
