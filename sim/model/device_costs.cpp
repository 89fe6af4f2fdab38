#include "sim/model/device_costs.hpp"

namespace tiersim {

// A limit far above any device, and low enough that the costs of a step cannot overflow when added.
void describe_costs(Fields& f, DeviceCosts& c) {
  f.optional(kCostKeys[0], c.energy_per_byte, "Energy of each byte that it moves.",
             in_range(EnergyPerByte{}, EnergyPerByte::from_base(1'000'000'000)));
  f.optional(kCostKeys[1], c.energy_per_flop, "Energy of each operation that it computes.",
             in_range(EnergyPerFlop{}, EnergyPerFlop::from_base(1'000'000'000'000)));
  f.optional(kCostKeys[2], c.idle_power, "Power that it takes while the system is on.",
             in_range(Power{}, Power::from_base(1'000'000'000)));
  f.optional(kCostKeys[3], c.price, "Price of the whole device.",
             in_range(Money{}, Money::from_base(1'000'000'000'000'000)));
  f.optional(kCostKeys[4], c.price_per_byte, "Price of the bytes that it holds, beside `price`.",
             in_range(MoneyPerByte{}, MoneyPerByte::from_base(1'000'000'000'000'000)));
}

}  // namespace tiersim
