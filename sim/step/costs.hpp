#pragma once
// The cost of a step, or of a time in which a server works. Energy: of the bytes that devices move,
// of arithmetic, of the time that the GPU works and of the time that devices are on. Money: from
// prices over the years that a system works, and electricity, or from a rent. A device without a
// stated number is left out and listed.
//
//   energy  sum of moved bytes * energy_per_byte + FLOPs * energy_per_flop
//           + active_power * time at work + idle_power * time,
//           of a GPU and its own memory at most board_power, or power_limit, for that time
//   cost    (price + capacity * price_per_byte) * time / (years * utilisation)
//           + energy * electricity
//           or rent * time / utilisation
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/step/accounting.hpp"
#include "sim/step/scenario.hpp"

namespace tiersim {

struct StepCosts {
  std::optional<double> joules;  ///< none if a device that moves bytes states no energy
  /// The part of GPUs with their own memories, as a GPU's sensor sees it; likewise.
  std::optional<double> gpu_joules;
  /// None without `joules`, or if the GPU or a tier has no price; with a rent always.
  std::optional<double> usd;
  /// The weakest class among the numbers behind each; the time has a class of its own.
  NumberClass joules_class = NumberClass::measured;
  NumberClass usd_class = NumberClass::measured;
  std::vector<std::string> unstated;  ///< "hbm: energy_per_byte": the missing numbers
};

/// The work of a step or of a server over a time, from which its energy and cost follow.
struct PoweredWork {
  double flops = 0;               ///< as their energy counts (OpPlan::powered_flops)
  Duration active{};              ///< time of active_power
  std::vector<Bytes> moved = {};  ///< by DeviceId, in whole granules
  Duration on{};                  ///< time for which everything is on and paid
  std::int64_t on_gpus = 1;       ///< GPUs that are on; the rest is the work of `working_gpus`
  std::int64_t working_gpus = 1;  ///< GPUs that each do the work
};

/// True where a number of a scenario, by its dotted path, is only a cost (energy, power or price),
/// so that no time depends on it. Under a power limit, times depend on the numbers behind power.
bool only_in_costs(std::string_view path, const ScenarioConfig& config);
/// True for the path of such a number, whatever the systems.
bool is_cost_number(std::string_view path);

/// The costs of a step on one GPU of this role. `config` is that of its system; `system` and
/// `accounting` are the step's.
StepCosts costs_of(const SystemConfig& config, const System& system, const Accounting& accounting,
                   Duration time, GpuRole role = GpuRole::main);
/// The costs of a GPU with its part of the FFN GPUs, of which there are `share` for each of it.
StepCosts with_ffn(const StepCosts& main, const StepCosts& ffn, double share);
/// The costs of this work on all its GPUs; those of a step are one GPU's.
StepCosts costs_of(const SystemConfig& config, const System& system, const PoweredWork& work);

}  // namespace tiersim
