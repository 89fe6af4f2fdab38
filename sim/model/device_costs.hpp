#pragma once
// What a device costs to run and to buy. Every number is optional: what is not stated is not
// counted, and a total says which devices it leaves out.
#include <array>
#include <optional>
#include <string_view>

#include "sim/base/number_class.hpp"
#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

struct DeviceCosts {
  std::optional<Sourced<EnergyPerByte>> energy_per_byte;  ///< of each byte that it moves
  std::optional<Sourced<EnergyPerFlop>> energy_per_flop;  ///< of each operation, by a compute unit
  std::optional<Sourced<Power>> idle_power;               ///< while the system is on, used or not
  std::optional<Sourced<Money>> price;                    ///< of the whole device
  std::optional<Sourced<MoneyPerByte>> price_per_byte;    ///< of a memory, beside `price`
};

/// The keys of these numbers, in the order above; no other number of a device has such a key.
inline constexpr std::array<std::string_view, 5> kCostKeys{"energy_per_byte", "energy_per_flop",
                                                           "idle_power", "price", "price_per_gb"};

/// Lists them in the mapping of the device itself, after the fields of its kind.
void describe_costs(Fields& f, DeviceCosts& c);

}  // namespace tiersim
