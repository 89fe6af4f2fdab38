#pragma once
// Which case catches a change of a number. One study belongs to one thread, since it changes its
// configuration and puts it back:
//
//   SensitivityStudy study(config);
//   const std::vector<SensitivityAnswer> base = ...study.answer(device, i) for every question...
//   for (const std::string& path : study.parameters(device))
//     rows.push_back(study.sensitivity_of(device, path, base));
//
//   Equation  moved = changed answer / answer - 1, at most over both steps. Of the cases where a
//             step leaves the band the one that moves most is named, else of all cases.
//   Ignores   two numbers that change together; answers that a change takes away, as an offered
//             load that is no longer served; the analytic level, which has flow's costs.
//   Checked   tests/unit/validate/sensitivity_test.cpp, tests/cli/validate_sensitivity_test.py
#include "sim/record/sensitivity_record.hpp"
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

  /// The same where the same is asked, whatever device it is asked for.
  std::string key() const;
};

struct SensitivityAnswer {
  std::optional<double> value = {};  ///< none where the level has none
  bool fails = false;                ///< outside of a band that it is held to
};

class SensitivityStudy {
 public:
  /// The members of `config` stay where they are while this lives.
  explicit SensitivityStudy(SensitivityConfig& config);

  const std::vector<SensitivityQuestion>& questions(std::size_t device) const {
    return questions_[device];
  }
  SensitivityAnswer answer(std::size_t device, std::size_t question) const;

  /// Paths within the device, in the order in which its cases have them.
  std::vector<std::string> parameters(std::size_t device) const;
  /// `base`: answers to questions(device), nothing changed. Asked are these of the questions; all
  /// where there are none.
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
};

/// Workloads that cases name and that the level map does not have.
std::vector<std::string> unknown_workloads(const SensitivityConfig& config);

}  // namespace tiersim
