#pragma once
// A design space as YAML describes it (`schema: tiersim.sweep/v1`): a scenario or a served workload
// and what is varied of it.
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
// Points are the product of the axes, the last fastest. With `grids`, the axes at the top are
// crossed with those of each grid in turn. Then `derived` adds settings and columns, `exclude` and
// `filter` take points away, `include` adds single ones at the end, and `sample` or `search` takes
// some of what is left of the product; included points stay. `set` lies under the settings of the
// axes. With grids, 'grid' is a column, and includes say which they mean.
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
  std::string scenario = {};  ///< instead of the sweep's, where given
  std::vector<std::string> set = {};
};
void describe(Fields& f, SweepVariant& c);

/// From an end to the other, both included: by number of points or by step. Ends and step are
/// numbers or quantities of one dimension.
struct SweepRange {
  std::string from = {};
  std::string to = {};
  std::optional<std::int64_t> points = {};
  std::string step = {};
};
void describe(Fields& f, SweepRange& c);

/// The same by equal factors.
struct SweepLogRange {
  std::string from = {};
  std::string to = {};
  std::optional<std::int64_t> points = {};
  std::optional<double> factor = {};
};
void describe(Fields& f, SweepLogRange& c);

/// Values of one setting, by exactly one of `values`, `range` and `log_range`; or variants.
struct SweepAxis {
  std::string name = {};  ///< in columns and expressions; else the last word of the key
  std::string key = {};
  std::vector<std::string> values = {};
  std::optional<SweepRange> range = {};
  std::optional<SweepLogRange> log_range = {};
  std::vector<SweepVariant> variants = {};
};
void describe(Fields& f, SweepAxis& c);

/// The name of an axis: as given, else the last word of its key that is no number.
std::string axis_name(const SweepAxis& axis);
/// Letters, digits and _, in parts with dots between.
bool is_identifier(std::string_view name);

/// One axis, or several that move together.
struct SweepAxisGroup {
  SweepAxis axis = {};
  std::vector<SweepAxis> zip = {};  ///< as many values each; `axis` is then empty
};
void describe(Fields& f, SweepAxisGroup& c);

/// A value computed of axes and of what was derived before it: a setting, a column, or both.
struct SweepDerived {
  std::string name = {};
  std::string key = {};
  std::string expression = {};  ///< of axes and what was derived before (expression.hpp)
};
void describe(Fields& f, SweepDerived& c);

using SweepMatch = std::map<std::string, std::string>;  ///< axis -> label

/// A sub-grid.
struct SweepGrid {
  std::string name = {};
  std::string scenario = {};  ///< instead of the sweep's, where given
  std::vector<std::string> set = {};
  std::vector<SweepAxisGroup> axes = {};
  std::vector<SweepDerived> derived = {};  ///< after those of the sweep
  std::vector<std::string> filter = {};    ///< besides those of the sweep
};
void describe(Fields& f, SweepGrid& c);

enum class SampleMethod : std::uint8_t { random, latin_hypercube };
inline constexpr std::array<std::string_view, 2> kSampleMethodNames{"random", "latin_hypercube"};

/// Some points instead of all.
struct SweepSample {
  SampleMethod method = SampleMethod::latin_hypercube;
  std::int64_t points = 1;
  std::int64_t seed = 1;
};
void describe(Fields& f, SweepSample& c);

/// Pareto-guided refinement: `start` points spread over the space, then neighbours of the best, up
/// to `budget` in all.
struct SweepSearch {
  std::int64_t budget = 100;
  std::int64_t start = 20;
  std::int64_t generation = 16;  ///< points chosen at a time, whatever -j is
  std::int64_t seed = 1;
};
void describe(Fields& f, SweepSearch& c);

/// One of the two: a metric (a name of `tiersim list metrics`, or short: throughput, ttft.p99).
struct SweepObjective {
  std::string maximize = {};
  std::string minimize = {};
};
void describe(Fields& f, SweepObjective& c);

enum class SweepReading : std::uint8_t {
  accounting,  ///< footprint and traffic; nothing needs to fit
  analytic,    ///< also the bound: closed forms, no events
  times,       ///< also the engine
  all,         ///< also intervals, where numbers have them
};
inline constexpr std::array<std::string_view, 4> kSweepReadingNames{"accounting", "analytic",
                                                                    "times", "all"};
enum class SweepKeep : std::uint8_t {
  metrics,  ///< names and values: enough for curves, Pareto and sensitivity
  results,  ///< all that a record holds under `results`
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
  std::vector<std::string> subject_to = {};  ///< expressions of metrics, true where acceptable
  SweepReading reading = SweepReading::times;
  SweepKeep keep = SweepKeep::results;
};
void describe(Fields& f, SweepConfig& c);

}  // namespace tiersim
