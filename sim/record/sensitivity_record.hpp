#pragma once
// What 20 % more and 20 % less of each number of a device does to the answers of reference curves
// and workloads, and which of them catches it.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/record/probe_record.hpp"

namespace tiersim {

/// How much a number is raised and lowered.
inline constexpr double kSensitivityStep = 0.2;
/// From here on an answer moves.
inline constexpr double kSensitivityMoves = 0.01;

enum class SensitivityVerdict : std::uint8_t {
  fails,        ///< an answer leaves its band, so that `validate hardware` exits 5
  moves,        ///< an answer moves by 1 % or more, within its band or where it has none
  insensitive,  ///< none moves by 1 %
  not_changed,  ///< no other value is allowed, or it is 0
};
inline constexpr std::array<std::string_view, 4> kSensitivityVerdictNames{
    "fails", "moves", "insensitive", "not changed"};
constexpr std::string_view name(SensitivityVerdict verdict) {
  return kSensitivityVerdictNames[static_cast<std::size_t>(verdict)];
}

/// One other value of a number. Refused values were not asked.
struct SensitivityStep {
  double factor = 1;                 ///< of the value: 1.2 or .8, or the next that is allowed
  std::string refused = {};          ///< why there is none; empty where it was asked
  std::optional<double> moved = {};  ///< the answer of the case that catches it, relative
  bool fails = false;                ///< whether that answer leaves its band
};

struct ParameterSensitivity {
  std::string path = {};   ///< within the device
  std::string value = {};  ///< canonical text
  SensitivityVerdict verdict = SensitivityVerdict::not_changed;
  /// The case that catches it, or moves most: a curve and its point, or a workload.
  std::optional<CurveFacts> curve = {};
  ReferencePoint point = {};
  std::string workload = {};
  Fidelity level = Fidelity::flow;
  SensitivityStep more = {};
  SensitivityStep less = {};
  std::int64_t failing = 0;  ///< answers that leave their band, of both steps
  std::string why = {};      ///< that nothing catches it; empty where nobody has said

  /// Most that an answer moves; 0 where none was asked.
  double most() const;
};

struct DeviceSensitivity {
  std::string name;
  std::string title;
  std::int64_t answers = 0;  ///< that each number was held to
  std::vector<ParameterSensitivity> parameters = {};
};

}  // namespace tiersim
