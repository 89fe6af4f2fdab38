#pragma once
// What a device costs to run and to buy. Every number is optional: what is not stated is not
// counted, and a total says which devices it leaves out.
#include <optional>

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

/// Lists them in the mapping of the device itself, after the fields of its kind: energy_per_byte,
/// energy_per_flop, idle_power, price, price_per_gb.
void describe_costs(Fields& f, DeviceCosts& c);

}  // namespace tiersim
