#include "sim/model/device_costs.hpp"

#include "sim/base/portable_math.hpp"

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

void describe_power(Fields& f, ComputePower& c) {
  constexpr Power kMost = Power::from_base(1'000'000'000);
  constexpr Power kLeast = Power::from_base(1);
  f.optional("active_power", c.active_power,
             "Power that it takes beside `idle_power` while it works, whatever it does.",
             in_range(Power{}, kMost));
  f.optional("board_power", c.board_power,
             "Power of the data sheet, with the memory, which the board keeps on average.",
             in_range(kLeast, kMost));
  f.optional("power_limit", c.power_limit,
             "Most power that it and its memory may take; the clock falls until they keep it.",
             in_range(kLeast, kMost));
  f.optional("power_exponent", c.power_exponent,
             "Exponent of the clock in the power of what the clock drives.", in_range(1.0, 4.0));
  f.optional("least_clock", c.least_clock, "Lowest clock, as a share of the highest.",
             in_range(0.05, 1.0));
}

Power static_power(Power idle, const ComputePower& c, double clock) {
  return idle + scale_up(c.active_power->value, portable_pow(clock, c.power_exponent->value));
}

}  // namespace tiersim
