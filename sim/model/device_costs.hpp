#pragma once
// The energy and price of a device. Every number is optional: a missing number is not counted, and
// a total lists the devices that it leaves out. A compute unit may also have a power limit.
#include <array>
#include <optional>
#include <string_view>

#include "sim/base/number_class.hpp"
#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

struct DeviceCosts {
  std::optional<Sourced<EnergyPerByte>> energy_per_byte;  ///< for each byte that the device moves
  std::optional<Sourced<EnergyPerFlop>> energy_per_flop;  ///< for each operation of a compute unit
  std::optional<Sourced<Power>> idle_power;               ///< while the system is on, in use or not
  std::optional<Sourced<Money>> price;                    ///< for the whole device
  std::optional<Sourced<MoneyPerByte>> price_per_byte;    ///< for a memory, in addition to `price`
};

/// The power of a compute unit besides its `idle_power`, and a limit on all of it (PowerCap).
struct ComputePower {
  std::optional<Sourced<Power>> active_power;     ///< while it works, whatever it does
  std::optional<Sourced<Power>> board_power;      ///< of the data sheet, memory included
  std::optional<Power> power_limit;               ///< a setting; none: the clock never falls
  std::optional<Sourced<double>> power_exponent;  ///< of the clock in the power of what it drives
  std::optional<Sourced<double>> least_clock;     ///< over the clock that the rates are of
};

/// The keys of these numbers; no other number of a device has one of these keys. The first five are
/// in the order of DeviceCosts.
inline constexpr std::array<std::string_view, 9> kCostKeys{
    "energy_per_byte", "energy_per_flop", "idle_power",     "price",      "price_per_gb",
    "active_power",    "board_power",     "power_exponent", "least_clock"};

/// Lists these numbers in the mapping of the device itself, after the fields of its kind.
void describe_costs(Fields& f, DeviceCosts& c);
/// The same for the power of a compute unit.
void describe_power(Fields& f, ComputePower& c);

/// Power of a compute unit at this share of its highest clock before it moves or computes anything.
/// `c` states active power and exponent.
Power static_power(Power idle, const ComputePower& c, double clock);

}  // namespace tiersim
