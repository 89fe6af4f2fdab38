#pragma once
// Finds the cases that detect a change of a number. One study belongs to one thread, since it
// changes its configuration and restores it:
//
//   SensitivityStudy study(config);
//   const std::vector<SensitivityAnswer> base = ...study.answer(device, i) for every question...
//   for (const std::string& path : study.parameters(device))
//     rows.push_back(study.sensitivity_of(device, path, base));
//
//   Equation  moved = changed result / result - 1, the larger of both steps. The case
//             that is named moves most among those where a step leaves the band, else among all.
//   Ignores   two numbers that change together; results that a change removes, such as an offered
//             load that is no longer served; the analytic level, which has flow's costs.
//   Checked   tests/unit/validate/sensitivity_test.cpp, tests/cli/validate_sensitivity_test.py
#include "sim/record/sensitivity_record.hpp"
#include "sim/validate/dram_probes.hpp"
#include "sim/validate/sensitivity_config.hpp"
#include "sim/validate/sensitivity_numbers.hpp"

namespace tiersim {

/// One case at one level.
struct SensitivityQuestion {
  std::string id;     ///< of the curve or workload
  std::string place;  ///< of the device in the configuration: "curves.0.curves.3.links.0."
  Fidelity level = Fidelity::flow;
  const HardwareCurve* curve = nullptr;
  std::size_t point = 0;
  std::string workload = {};

  /// Equal for equal cases, independent of the device under test.
  std::string key() const;
};

struct SensitivityAnswer {
  std::optional<double> value = {};  ///< none if the level has no result
  bool fails = false;                ///< true outside of a band that applies to it
};

class SensitivityStudy {
 public:
  /// The members of `config` must not move during the life of this object.
  explicit SensitivityStudy(SensitivityConfig& config);

  const std::vector<SensitivityQuestion>& questions(std::size_t device) const {
    return questions_[device];
  }
  SensitivityAnswer answer(std::size_t device, std::size_t question);

  /// Paths of numbers within the device, in the order of its cases.
  std::vector<std::string> parameters(std::size_t device) const;
  /// The sensitivity of one number. `base` holds the results of questions(device) without changes.
  /// Only the questions in the last argument are run; an empty list stands for all.
  ParameterSensitivity sensitivity_of(std::size_t device, const std::string& path,
                                      const std::vector<SensitivityAnswer>& base,
                                      const std::vector<std::size_t>& only = {});

 private:
  struct Target {
    std::string place;
    DeviceNumber* number;
    double value;
  };
  std::vector<Target> targets(std::size_t device, const std::string& path);
  SensitivityStep change(std::vector<Target>& targets, double factor);

  SensitivityConfig& config_;
  std::vector<std::vector<SensitivityQuestion>> questions_;  // by device
  std::vector<DeviceNumber> numbers_;                        // of all curves and workloads
  DramProbes probes_;
};

/// Workloads that cases name but the fidelity map does not have.
std::vector<std::string> unknown_workloads(const SensitivityConfig& config);

}  // namespace tiersim
