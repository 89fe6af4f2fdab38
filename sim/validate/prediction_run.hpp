#pragma once
// Answers a PredictionSet: the time of every kernel alone on the system (System::plan, as the bound
// and the engine have it), the quantities made of these times, and their intervals by drawing the
// uncertain numbers again and again. All quantities see the same draws, so an interval of a ratio
// is not widened by what both its sides share.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/config/describe.hpp"
#include "sim/validate/prediction_set.hpp"

namespace tiersim {

class System;

/// How what is simulated lies to what was stated.
enum class StatedStatus : std::uint8_t {
  consistent,    ///< the whole interval lies in the stated range
  partly,        ///< part of it does
  inconsistent,  ///< none of it does
};
inline constexpr std::array<std::string_view, 3> kStatedStatusNames{"consistent", "partly",
                                                                    "inconsistent"};

struct PredictedAnswer {
  PredictedQuantity quantity;
  double simulated = 0;  ///< by the system as it stands, in unit_of(quantity.kind)
  double low = 0;        ///< of its 95 % interval; never above `simulated`
  double high = 0;       ///< never below `simulated`
  StatedStatus status = StatedStatus::consistent;
};

struct PredictedSet {
  std::string name;
  std::string date;
  std::string system;
  std::string run_id;                               ///< SHA-256 of the set's canonical text
  NumberClass number_class = NumberClass::assumed;  ///< weakest of the numbers behind times
  std::int64_t draws = 0;
  std::vector<SourcedNumber> uncertain;  ///< the numbers that have an interval
  std::vector<PredictedAnswer> answers;
};

/// The time of the kernel alone, all its launches [s]. Tiers must be the system's.
double predicted_seconds(const System& system, const PredictedKernel& kernel);

/// Reads and answers a set. Mistakes, also of a draw that breaks a rule of the system, go to
/// `diagnostics`; what is returned then is not to be used.
PredictedSet answer_questions(const std::filesystem::path& path, const LoadOptions& options,
                              Diagnostics& diagnostics);

/// YAML (schema tiersim.predictions_on_record/v1): the same bytes for the same set and models.
std::string to_yaml(const PredictedSet& predicted);

/// The same as one JSON object on one line.
std::string to_json(const PredictedSet& predicted);

}  // namespace tiersim
