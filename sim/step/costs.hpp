#pragma once
// The cost of a step. Energy: of the bytes it moves, of its arithmetic, and of the time that
// devices are on. Money: from prices over the years that a system works, and electricity. Both are
// for one GPU and its share of the devices that GPUs share. A device without a stated number is
// left out and listed.
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
  std::optional<double> joules;  ///< none if a device that moves bytes states no energy
  std::optional<double> usd;     ///< none without `joules`, or if the GPU or a tier has no price
  /// The weakest class among the numbers behind each; the time has a class of its own.
  NumberClass joules_class = NumberClass::measured;
  NumberClass usd_class = NumberClass::measured;
  std::vector<std::string> unstated;  ///< "hbm: energy_per_byte": the missing numbers
};

/// True where a number of a scenario, by its dotted path, is only a cost (energy or price), so that
/// no time depends on it.
bool only_in_costs(std::string_view path);

/// The costs of a step on one GPU with this `accounting` and `time`.
StepCosts costs_of(const SystemConfig& config, const System& system, const Accounting& accounting,
                   Duration time);

}  // namespace tiersim
