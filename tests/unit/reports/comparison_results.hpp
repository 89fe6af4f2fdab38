#pragma once
// Curves and grids of round numbers for the tests of their sections.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "reports/papers/comparisons/curves_result.hpp"
#include "reports/papers/comparisons/grid_result.hpp"

namespace tiersim::testing {

/// A step with `rate` tokens/s that waits for HBM or for arithmetic.
inline CurvePoint curve_point(double rate, const char* waits_for = "kv") {
  RunRecord r;
  r.run_id = "id";
  r.metrics["throughput_tokens_per_s"] = {rate, "tokens/s", NumberClass::assumed};
  r.metrics["ttft_s"] = {rate / 1000, "s", NumberClass::assumed};
  r.time_split = {{waits_for, 1}};
  r.phases = {{"attention", 0.75}, {"mlp", 0.25}};
  return {.record = std::make_shared<const RunRecord>(std::move(r)), .batch = 7};
}
inline CurvePoint no_point() {
  return {.problem = "not even one sequence fits at this context"};
}

/// Machines A and B; case small with ways x, y, z and case large with x, y; contexts 8 and 16. On A
/// y is twice as fast as x, on B half as fast; z is three times as fast.
inline CurvesResult curves() {
  CurvesResult r;
  r.curves = {
      .id = "p.fig",
      .title = "Rates",
      .where = "Figure 1",
      .machines = "machines",
      .cases = {{.label = "small", .ways = {{.label = "x"}, {.label = "y"}, {.label = "z"}}},
                {.label = "large", .ways = {{.label = "x"}, {.label = "y"}}}},
      .contexts = {8, 16},
      .metric = "throughput_tokens_per_s"};
  r.machines = {"A", "B"};
  for (const double y : {2.0, 0.5})
    r.points.insert(r.points.end(),
                    {curve_point(100), curve_point(100 * y), curve_point(300), curve_point(50),
                     curve_point(50 * y), curve_point(150), curve_point(10), curve_point(10 * y),
                     curve_point(5), curve_point(5 * y)});
  return r;
}

/// A ratio that its batch and bytes explain.
inline Speedup speedup(double ratio) {
  Speedup s{.base = {.batch = 4, .tokens_per_s = 100},
            .other = {.batch = 8, .tokens_per_s = 100 * ratio, .limit = StepLimit::flop},
            .ratio = ratio};
  s.factors = {ratio / 1.25, 1, 1, 1, 1.25, 1};
  return s;
}

/// Machines A and B, tiles unpadded and 128, one of everything else; cases one (2, near within
/// 5 %) and two (3, within 10 %). Ratios of the four cells: (2.08, 3.24), (1.2, 3), (2, 2),
/// (none, 3.1).
inline GridResult grid() {
  GridResult r;
  r.grid = {.id = "p.grid",
            .title = "Ratios",
            .where = "Figure 2",
            .machines = "machines",
            .cases = {{.label = "one", .base = {}, .other = {}, .paper = 2, .near = 0.05},
                      {.label = "two", .base = {}, .other = {}, .paper = 3, .near = 0.1}},
            .tiles = {{.label = "unpadded", .kernel = {}}, {.label = "128", .kernel = {}}},
            .regions = {Region::attention},
            .output_projections = {OutputProjection::split},
            .batches = {{.label = ".9", .near_share = 0.9}},
            .hosts = {{.label = "none"}}};
  r.machines = {"A", "B"};
  r.cells = {{.machine = 0, .tiles = 0, .cases = {speedup(2.08), speedup(3.24)}},
             {.machine = 0, .tiles = 1, .cases = {speedup(1.2), speedup(3)}},
             {.machine = 1, .tiles = 0, .cases = {speedup(2), speedup(2)}},
             {.machine = 1, .tiles = 1, .cases = {std::nullopt, speedup(3.1)}}};
  return r;
}

inline TargetResult result_of(const ReportSection& section, const std::string& id) {
  for (const TargetResult& result : section.results)
    if (result.id == id) return result;
  throw std::runtime_error("no result " + id);
}

}  // namespace tiersim::testing
