#pragma once
// The values that a paper states and that a simulation is checked against (`schema:
// tiersim.targets/v1`, one file a paper in reports/targets). Each row names a shipped scenario,
// settings on top of it, and the printed cells. Studies (study.hpp) are its figures and sweeps
// beyond them.
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/papers/comparisons/comparison.hpp"
#include "reports/papers/early_exit/early_exit_targets.hpp"
#include "reports/papers/maps/win_map.hpp"
#include "reports/papers/served_loads/served_load_targets.hpp"
#include "reports/papers/statements/statement_targets.hpp"
#include "reports/papers/statements/unsimulated.hpp"
#include "reports/papers/studies/study.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// The assumptions under which a row is simulated.
enum class Reading : std::uint8_t { paper, first_principles };
inline constexpr std::array<std::string_view, 2> kReadingNames{"paper", "first_principles"};

/// The check of a printed value.
enum class Expectation : std::uint8_t {
  exact,  ///< the simulation must give the printed value
  /// The printed value contradicts the paper's own numbers; the simulation must give `value`
  rule,
};
inline constexpr std::array<std::string_view, 2> kExpectationNames{"exact", "rule"};

struct TargetCell {
  std::string id = {};  ///< in the list of targets; empty: made from the row and the quantity
  double paper = 0;     ///< as printed
  Expectation expect = Expectation::exact;
  double value = 0;      ///< under `rule`: the value by the paper's own rule
  std::string why = {};  ///< under `rule`: the contradiction
};
void describe(Fields& f, TargetCell& c);

struct TargetRow {
  std::string id = {};
  std::string label = {};
  std::string method = {};
  Reading reading = Reading::paper;
  std::string where = {};     ///< table, figure or section
  std::string scenario = {};  ///< file, relative to the configs folder
  std::vector<std::string> set = {};
  std::string baseline = {};  ///< id of the row (same reading) that overhead and reduction refer to
  std::map<std::string, TargetCell> cells = {};  ///< by quantity, see compare.hpp
};
void describe(Fields& f, TargetRow& c);

/// A decode step to simulate beside the table.
struct TargetStep {
  std::string label = {};
  std::string method = {};
  std::string scenario = {};
  std::vector<std::string> set = {};
};
void describe(Fields& f, TargetStep& c);

struct Targets {
  std::string paper = {};
  std::vector<TargetRow> rows;
  std::vector<TargetStep> steps;
  VariantLists variants;  ///< for the axes of studies and for questions
  std::vector<Study> studies;
  std::vector<SolveQuestion> solves;
  std::optional<Digest> digest;
  std::vector<Curves> curves;
  std::vector<SpeedupGrid> grids;
  std::vector<WinMap> maps;
  std::optional<NumericsTargets> numerics;
  std::optional<EarlyExitTargets> early_exit;
  std::vector<ServedLoadTargets> served_loads;
  std::vector<UnsimulatedValue> unsimulated;
};
void describe(Fields& f, Targets& c);

}  // namespace tiersim
