#pragma once
// Sensitivity of reference curves and workloads to each number of a device: the change of every
// result when the number is 20 % larger or smaller, and the case that detects it.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/record/probe_record.hpp"

namespace tiersim {

/// Relative size of the steps up and down.
inline constexpr double kSensitivityStep = 0.2;
/// Least relative change at which a result counts as moved.
inline constexpr double kSensitivityMoves = 0.01;

enum class SensitivityVerdict : std::uint8_t {
  fails,        ///< a result leaves its band, so that `validate hardware` exits with 5
  moves,        ///< a result moves by 1 % or more, within its band or without one
  insensitive,  ///< no result moves by 1 %
  not_changed,  ///< no other value is allowed, or the value is 0
};
inline constexpr std::array<std::string_view, 4> kSensitivityVerdictNames{
    "fails", "moves", "insensitive", "not changed"};
constexpr std::string_view name(SensitivityVerdict verdict) {
  return kSensitivityVerdictNames[static_cast<std::size_t>(verdict)];
}

/// A run with one other value of a number. A refused value is not run.
struct SensitivityStep {
  double factor = 1;                 ///< 1.2 or 0.8 times the value, or the next that is allowed
  std::string refused = {};          ///< reason for no run; empty if it ran
  std::optional<double> moved = {};  ///< relative change of the result of the detecting case
  bool fails = false;                ///< true where that result leaves its band
};

struct ParameterSensitivity {
  std::string path = {};   ///< path within the device
  std::string value = {};  ///< canonical text
  SensitivityVerdict verdict = SensitivityVerdict::not_changed;
  /// The case that detects the change, or that moves most: a curve and its point, or a workload.
  std::optional<CurveFacts> curve = {};
  ReferencePoint point = {};
  std::string workload = {};
  Fidelity level = Fidelity::flow;
  SensitivityStep more = {};
  SensitivityStep less = {};
  std::int64_t failing = 0;  ///< results that leave their band, in both steps
  std::string why = {};      ///< reason why no case detects it; empty if unknown

  /// Largest change of a result; 0 if no step ran.
  double most() const;
};

struct DeviceSensitivity {
  std::string name;
  std::string title;
  std::int64_t answers = 0;  ///< results that each number is tested against
  std::vector<ParameterSensitivity> parameters = {};
};

}  // namespace tiersim
