#pragma once
// A design space as YAML describes it (`schema: tiersim.sweep/v1`): a scenario or a served workload
// and the settings to vary.
//
//   schema: tiersim.sweep/v1
//   name: what a pool must be for MAPLE
//   scenario: scenarios/maple/llama2_7b_maple.yaml
//   axes:
//     - {key: step.context, values: [8192, 32768]}
//     - {key: what_if.far_bandwidth, log_range: {from: 1, to: 64, factor: 2}}
//     - {name: method, variants: [{label: MAPLE}, {label: Quest, set: [method.base=...]}]}
//     - zip:
//         - {key: step.batch, values: [16, 8]}
//         - {key: placement.near_share, values: [0.9, 0.8]}
//   derived: [{name: rows, expression: "batch * context"}]
//   filter: ["rows <= 262144"]
//   exclude: [{method: Quest, context: 8192}]
//   include: [{method: MAPLE, context: 65536, far_bandwidth: 3, batch: 1, near_share: 0.9}]
//   objectives: [{maximize: throughput}, {minimize: tpot}]
//   subject_to: ["tpot < 200 ms"]
//
// Points are the product of the axes, with the last changing fastest. With `grids`, the axes at the
// top are combined with those of each grid in turn. Then `derived` adds settings and columns,
// `exclude` and `filter` remove points, `include` adds single points at the end, and `sample` or
// `search` takes some of the remaining points of the product; included points stay. `set` lies
// under the settings of the axes. With grids, 'grid' is a column, and each include names its grid.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"

namespace tiersim {

/// A named choice on an axis: another file, settings, or both.
struct SweepVariant {
  std::string label = {};
  std::string scenario = {};  ///< replaces the sweep's, if given
  std::vector<std::string> set = {};
};
void describe(Fields& f, SweepVariant& c);

/// From one end to the other, both included, by number of points or by step. Ends and step are
/// numbers or quantities of one dimension.
struct SweepRange {
  std::string from = {};
  std::string to = {};
  std::optional<std::int64_t> points = {};
  std::string step = {};
};
void describe(Fields& f, SweepRange& c);

/// The same with equal factors.
struct SweepLogRange {
  std::string from = {};
  std::string to = {};
  std::optional<std::int64_t> points = {};
  std::optional<double> factor = {};
};
void describe(Fields& f, SweepLogRange& c);

/// Values of one setting, given by exactly one of `values`, `range` and `log_range`; or variants.
struct SweepAxis {
  std::string name = {};  ///< in columns and expressions; default: the last word of the key
  std::string key = {};
  std::vector<std::string> values = {};
  std::optional<SweepRange> range = {};
  std::optional<SweepLogRange> log_range = {};
  std::vector<SweepVariant> variants = {};
};
void describe(Fields& f, SweepAxis& c);

/// The name of an axis: as given, else the last word of its key that is not a number.
std::string axis_name(const SweepAxis& axis);
/// True for letters, digits and _, in parts separated by dots.
bool is_identifier(std::string_view name);

/// One axis, or several that change together.
struct SweepAxisGroup {
  SweepAxis axis = {};
  std::vector<SweepAxis> zip = {};  ///< equally many values each; `axis` is then empty
};
void describe(Fields& f, SweepAxisGroup& c);

/// A value computed from axes and earlier derived values: a setting, a column, or both.
struct SweepDerived {
  std::string name = {};
  std::string key = {};
  std::string expression = {};  ///< of axes and earlier derived values (expression.hpp)
};
void describe(Fields& f, SweepDerived& c);

using SweepMatch = std::map<std::string, std::string>;  ///< axis -> label

/// A sub-grid.
struct SweepGrid {
  std::string name = {};
  std::string scenario = {};  ///< replaces the sweep's, if given
  std::vector<std::string> set = {};
  std::vector<SweepAxisGroup> axes = {};
  std::vector<SweepDerived> derived = {};  ///< after those of the sweep
  std::vector<std::string> filter = {};    ///< besides those of the sweep
};
void describe(Fields& f, SweepGrid& c);

enum class SampleMethod : std::uint8_t { random, latin_hypercube };
inline constexpr std::array<std::string_view, 2> kSampleMethodNames{"random", "latin_hypercube"};

/// A sample of the points.
struct SweepSample {
  SampleMethod method = SampleMethod::latin_hypercube;
  std::int64_t points = 1;
  std::int64_t seed = 1;
};
void describe(Fields& f, SweepSample& c);

/// Pareto-guided refinement: `start` points spread over the space, then neighbours of the best, up
/// to `budget` points in total.
struct SweepSearch {
  std::int64_t budget = 100;
  std::int64_t start = 20;
  std::int64_t generation = 16;  ///< points chosen at a time, independent of -j
  std::int64_t seed = 1;
};
void describe(Fields& f, SweepSearch& c);

/// One of the two is set: a metric (a name of `tiersim list metrics`, or short: throughput,
/// ttft.p99).
struct SweepObjective {
  std::string maximize = {};
  std::string minimize = {};
};
void describe(Fields& f, SweepObjective& c);

/// The value of a setting at which a point equals another one in a metric (break_even.hpp).
struct SweepBreakEven {
  std::string axis = {};
  std::map<std::string, std::string> against = {};  ///< label -> label of the reference
  std::string key = {};
  std::vector<std::string> between = {};  ///< lowest and highest value
  std::string maximize = {};              ///< one of the two is set, as in an objective
  std::string minimize = {};
};
void describe(Fields& f, SweepBreakEven& c);

/// The table at the top of the page: the best label of an axis for each combination of others.
struct SweepSummary {
  std::string best = {};             ///< axis
  std::vector<std::string> by = {};  ///< axes; over all others the best is taken
};
void describe(Fields& f, SweepSummary& c);

enum class SweepReading : std::uint8_t {
  accounting,  ///< footprint and traffic; tiers may be too small
  analytic,    ///< also the bound: closed forms, no events
  times,       ///< also the engine
  all,         ///< also intervals, if numbers have them
};
inline constexpr std::array<std::string_view, 4> kSweepReadingNames{"accounting", "analytic",
                                                                    "times", "all"};
enum class SweepKeep : std::uint8_t {
  metrics,  ///< names and values, as needed by curves, Pareto and sensitivity
  results,  ///< everything under `results` of a record
};
inline constexpr std::array<std::string_view, 2> kSweepKeepNames{"metrics", "results"};

struct SweepConfig {
  std::string name = {};
  std::string description = {};
  std::string scenario = {};
  std::vector<std::string> set = {};
  std::vector<SweepAxisGroup> axes = {};
  std::vector<SweepGrid> grids = {};
  std::vector<SweepDerived> derived = {};
  std::vector<std::string> filter = {};
  std::vector<SweepMatch> exclude = {};
  std::vector<SweepMatch> include = {};
  std::optional<SweepSample> sample = {};
  std::optional<SweepSearch> search = {};
  std::vector<SweepObjective> objectives = {};
  std::vector<std::string> subject_to = {};  ///< expressions of metrics, true for acceptable points
  std::optional<SweepBreakEven> break_even = {};
  std::optional<SweepSummary> summary = {};
  SweepReading reading = SweepReading::times;
  SweepKeep keep = SweepKeep::results;
};
void describe(Fields& f, SweepConfig& c);

}  // namespace tiersim
