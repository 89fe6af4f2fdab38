#pragma once
// Answers to the questions of a paper's targets: at which value of a setting a metric has a value.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reports/papers/studies/study.hpp"
#include "reports/render/table.hpp"
#include "sim/record/run_record.hpp"

namespace tiersim {

/// One answer, or why there is none.
struct SolveAnswer {
  std::string label = {};    ///< of the variant; empty without variants
  std::string outcome = {};  ///< "found", "beyond", "flat" or "cannot run"
  std::string value = {};    ///< of the setting, as YAML takes it; where beyond, the nearest end
  std::string display = {};  ///< the same for people
  double target = 0;
  double metric = 0;  ///< at `value`; where found, not above `target`
  /// The whole number beside `value` where the metric is above the target.
  struct Next {
    std::string value = {};
    double metric = 0;
  };
  std::optional<Next> next = {};
  std::string unit = {};  ///< of both
  bool rises = true;      ///< the metric with the setting
  bool monotone = true;
  int evaluations = 0;
  /// Ends of the range as searched, for people, and why what lies beyond one of them cannot run;
  /// empty where all of the range does.
  std::array<std::string, 2> searched = {};
  std::string left_out = {};
  std::shared_ptr<const RunRecord> record = {};  ///< at `value`
  std::string problem = {};
};

struct SolveResult {
  SolveQuestion question;
  std::vector<SolveAnswer> answers;
};

/// "12.5 (tpot 50 ms)", or in one line why no value does it.
std::string sentence(const SolveResult& result, const SolveAnswer& answer);

/// "12.5"; where no value is the answer "none; at 1000", the end that comes nearest, or, where the
/// metric is not above the target at any, "all; at 8"; "all" or "none" where x does not matter.
std::string answer_text(const SolveAnswer& answer);

/// "searched 1 to 57, since ... does not fit"; empty where all of the range was.
std::string left_out_text(const SolveAnswer& answer);

Table table_of(const SolveResult& result);
/// Unrounded, for CSV.
Table raw_table(const SolveResult& result);

}  // namespace tiersim
