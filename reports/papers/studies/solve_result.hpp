#pragma once
// Answers to the questions of a paper's targets: the value of a setting at which a metric meets a
// target.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reports/papers/studies/study.hpp"
#include "reports/render/table.hpp"
#include "sim/record/run_record.hpp"

namespace tiersim {

/// One answer, or the reason why there is none.
struct SolveAnswer {
  std::string label = {};    ///< of the variant; empty where the question has no variants
  std::string outcome = {};  ///< "found", "beyond", "flat" or "cannot run"
  std::string value = {};    ///< of the setting, in YAML; where beyond, the nearest end
  std::string display = {};  ///< the same for people
  double target = 0;
  double metric = 0;  ///< at `value`; where found, not above `target`
  /// The neighbouring whole number where the metric is above the target.
  struct Next {
    std::string value = {};
    double metric = 0;
  };
  std::optional<Next> next = {};
  std::string unit = {};                      ///< of `target` and `metric`
  std::optional<Interval<double>> ci95 = {};  ///< of `metric`
  bool rises = true;                          ///< true where the metric rises with the setting
  bool monotone = true;
  /// The parts of a server's range whose samples are not above the target, as text.
  std::vector<std::array<std::string, 2>> holding = {};
  int evaluations = 0;
  /// Ends of the range that was searched, for people, and the reason why the rest cannot run. Empty
  /// where the whole range was searched.
  std::array<std::string, 2> searched = {};
  std::string left_out = {};
  std::shared_ptr<const RunRecord> record = {};  ///< at `value`
  std::string problem = {};
};

struct SolveResult {
  SolveQuestion question;
  std::vector<SolveAnswer> answers;
};

/// "12.5 (tpot 50 ms)", or one line with the reason why there is no such value.
std::string sentence(const SolveResult& result, const SolveAnswer& answer);

/// "2 to 20 and 25 to 31.5"; empty for less than two parts.
std::string parts_text(const std::vector<std::array<std::string, 2>>& holding);

/// "12.5". Where no value meets the target: "none; at 1000" with the nearest end, or "all; at 8"
/// where the metric is never above the target. "all" or "none" where the metric does not depend on
/// x.
std::string answer_text(const SolveAnswer& answer);

/// "searched 1 to 57, since ... does not fit"; empty where the whole range was searched.
std::string left_out_text(const SolveAnswer& answer);

Table table_of(const SolveResult& result);

}  // namespace tiersim
