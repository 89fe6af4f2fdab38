#pragma once
// The numbers of a configuration that decide the times of a step, from what the step uses.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/number_classes.hpp"
#include "sim/step/simulate.hpp"

namespace tiersim {

/// Times depend on a device's numbers if the step uses the device, and never on its energy and
/// price.
class NumbersInTimes {
 public:
  /// `config` must outlive this.
  NumbersInTimes(const ScenarioConfig& config, const Simulation& sim);
  /// `path` is that of a number in the scenario: "system.tiers.pool.memory.peak".
  bool contains(std::string_view path) const;

 private:
  struct Device {
    std::string prefix;  // of the paths of its numbers
    bool used;
  };
  const ScenarioConfig& config_;
  std::vector<Device> devices_;
};

/// The class of the times of steps that differ only in values of numbers, which change neither the
/// numbers that there are nor their classes.
class TimeClasses {
 public:
  /// The weakest class of the numbers in the times. `config` is one of these configurations.
  NumberClass weakest_of(const ScenarioConfig& config, const Simulation& sim);

 private:
  std::vector<ClassedNumber> numbers_;        // none before the first call
  std::map<std::string, NumberClass> known_;  // by everything that the step may use or not
};

}  // namespace tiersim
