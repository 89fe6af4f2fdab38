#pragma once
// What a step costs: energy of the bytes it moves, of its arithmetic and of the time that devices
// are on; and money, from prices over the years a system works, and electricity. For one GPU and
// its share of what GPUs share. A device that states no number is left out and named.
//
//   energy  sum of moved bytes * energy_per_byte + FLOPs * energy_per_flop + idle_power * time
//   cost    (price + capacity * price_per_byte) * time / (years * utilisation)
//           + energy * electricity
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/step/accounting.hpp"
#include "sim/step/system_config.hpp"

namespace tiersim {

struct StepCosts {
  std::optional<double> joules;  ///< none where a device that moves bytes states no energy
  std::optional<double> usd;     ///< none where `joules` is, or the GPU or a tier has no price
  /// The weakest of the numbers that went into each; the time has a class of its own.
  NumberClass joules_class = NumberClass::measured;
  NumberClass usd_class = NumberClass::measured;
  std::vector<std::string> unstated;  ///< "hbm: energy_per_byte": what is left out
};

/// Whether a number of a scenario, by its dotted path, says what something costs to run or to buy,
/// so that no time rests on it.
bool only_in_costs(std::string_view path);

/// `accounting` and `time` of the step on one GPU.
StepCosts costs_of(const SystemConfig& config, const System& system, const Accounting& accounting,
                   Duration time);

}  // namespace tiersim
