#pragma once
// The printed values of Miao et al. 2024 about serving with early exit, and sweeps of an engine
// that does not wait for its CPU. Data in reports/targets:
//
//   early_exit:
//     models:
//       - label: t5-v1.1-small
//         serving: serving/early_exit/t5_small_rtx4090.yaml
//         cells: [{technique: full, tokens_per_s: 1046.47, latency_s: 0.234}, ...]
//     engines:
//       - {id: early_exit.engine.t5-v1.1-small, serving: ..., batches: [1, 2, 4], cases: [...]}
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"
#include "workloads/early_exit/early_exit_config.hpp"

namespace tiersim {

/// One bar of Figure 1 with its bar of Figure 2.
struct ExitCell {
  ExitTechnique technique = ExitTechnique::full;
  std::string variant = {};  ///< name of another reading of a cell, at the end of its ids
  double tokens_per_s = 0;
  double latency_s = 0;                  ///< printed as "inner-token latency"
  std::optional<double> exit_rate = {};  ///< from Table 1; static techniques have none
  bool counted = true;                   ///< false for the second reading of a cell
  std::string why = {};                  ///< the reason to doubt the printed number

  friend bool operator==(const ExitCell&, const ExitCell&) = default;
};
void describe(Fields& f, ExitCell& c);

/// "state", "softmax.read_as_1177.96".
std::string name_of(const ExitCell& cell);

struct ExitModel {
  std::string label = {};
  std::string serving = {};          ///< file, relative to the configs folder
  std::vector<ExitCell> cells = {};  ///< the first is `full`
};
void describe(Fields& f, ExitModel& c);

/// Values that follow from the printed numbers alone, computed before any simulation.
struct ExitEvidence {
  double intercept_ms = 0;     ///< a in t = a + b N through the two `full` cells
  std::int64_t near_null = 0;  ///< counted cells near a server on which early exit has no effect
  std::string says = {};
};
void describe(Fields& f, ExitEvidence& c);

struct ExitHeadline {
  double throughput = 0;
  double near = 0;  ///< relative distance from `throughput`
  double latency = 0;
  std::string latency_says = {};
};
void describe(Fields& f, ExitHeadline& c);

/// One early-exit technique on an engine.
struct ExitCase {
  std::string label = {};
  EarlyExitConfig exit;  ///< without its correlation, which is that of the curve
  std::vector<std::string> set = {};
};
void describe(Fields& f, ExitCase& c);

/// A bound on the speed-up of a case over the first one.
struct ExitCheck {
  std::string id = {};
  std::string says = {};
  std::string of_case = {};
  std::string than = {};                   ///< the reference instead of the first case
  std::optional<double> correlation = {};  ///< none: all correlations
  std::int64_t from = 0;                   ///< smallest batch
  std::int64_t to = 0;
  std::optional<double> at_least = {};
  std::optional<double> at_most = {};
  std::string why = {};
};
void describe(Fields& f, ExitCheck& c);

/// Decoding over the batch, for every case and correlation.
struct BatchSweep {
  std::string id = {};
  std::string title = {};
  std::string serving = {};
  std::vector<std::string> set = {};
  std::int64_t output_tokens = 1;  ///< of each answer
  std::vector<std::int64_t> batches = {};
  std::vector<double> correlations = {};
  std::vector<ExitCase> cases = {};  ///< the first is what the others are compared with
  std::vector<ExitCheck> checks = {};
  bool digest = true;
  std::vector<std::string> notes = {};
};
void describe(Fields& f, BatchSweep& c);

struct EarlyExitTargets {
  std::string id = {};
  std::string where = {};
  double near = 0.1;  ///< relative distance at which a prediction is one
  double spread = 1;  ///< of depths, layers
  std::vector<double> correlations = {};
  std::vector<ExitModel> models = {};
  ExitEvidence evidence = {};
  ExitHeadline headline = {};
  std::vector<BatchSweep> engines = {};
  std::vector<std::string> notes = {};
};
void describe(Fields& f, EarlyExitTargets& c);

}  // namespace tiersim
