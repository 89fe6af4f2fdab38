#pragma once
// The energy and price of a device. Every number is optional: a missing number is not counted, and
// a total lists the devices that it leaves out.
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

/// The keys of these numbers, in the order above; no other number of a device has one of these
/// keys.
inline constexpr std::array<std::string_view, 5> kCostKeys{"energy_per_byte", "energy_per_flop",
                                                           "idle_power", "price", "price_per_gb"};

/// Lists these numbers in the mapping of the device itself, after the fields of its kind.
void describe_costs(Fields& f, DeviceCosts& c);

}  // namespace tiersim
