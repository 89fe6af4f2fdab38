#pragma once
// Evaluates a PredictionSet: the time of every kernel alone on the system (System::plan, as in the
// bound and the engine), the quantities formed from these times, and their intervals from repeated
// draws of the uncertain numbers. All quantities use the same draws, so the interval of a ratio is
// not widened by uncertainty that both sides share.
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/config/describe.hpp"
#include "sim/validate/prediction_set.hpp"

namespace tiersim {

class System;

/// The relation of the simulated interval to the stated range.
enum class StatedStatus : std::uint8_t {
  consistent,    ///< the whole interval lies in the range
  partly,        ///< part of it lies in the range
  inconsistent,  ///< none of it lies in the range
};
inline constexpr std::array<std::string_view, 3> kStatedStatusNames{"consistent", "partly",
                                                                    "inconsistent"};

struct PredictedAnswer {
  PredictedQuantity quantity;
  double simulated = 0;  ///< at the best values, in unit_of(quantity.kind)
  double low = 0;        ///< end of the 95 % interval; at most `simulated`
  double high = 0;       ///< at least `simulated`
  StatedStatus status = StatedStatus::consistent;
  /// From the times of `quantity.timed`; empty where one of its cases was not timed.
  std::optional<double> timed = {};
  std::vector<std::string> untimed = {};  ///< those cases
};

struct PredictedSet {
  std::string name;
  std::string date;
  std::string system;
  std::string run_id;                               ///< SHA-256 of the set's canonical text
  NumberClass number_class = NumberClass::assumed;  ///< weakest class behind the times
  std::int64_t draws = 0;
  std::vector<SourcedNumber> uncertain;  ///< the numbers with an interval
  std::vector<PredictedAnswer> answers;
  std::string timings_class = {};  ///< measured, reported, synthetic; empty without timings
};

/// The time of all launches of the kernel, alone on the system [s]. Its tiers must be the system's.
double predicted_seconds(const System& system, const PredictedKernel& kernel);

struct CaseTimes {
  std::string data_class = {};                              ///< of the timings
  std::map<std::string, double, std::less<>> of_case = {};  ///< [s]
};

/// Reads and evaluates a set, and gives the timed values where `times` has them. Mistakes go to
/// `diagnostics`, as do draws that violate a rule of the system; the result is then invalid.
PredictedSet answer_questions(const std::filesystem::path& path, const LoadOptions& options,
                              Diagnostics& diagnostics, const CaseTimes& times = {});

/// YAML (schema tiersim.predictions_on_record/v1): the same bytes for the same set and models.
std::string to_yaml(const PredictedSet& predicted);

/// The same as one JSON object on one line.
std::string to_json(const PredictedSet& predicted);

}  // namespace tiersim
