#pragma once
// Comparisons in reports/targets: several ways to run a step, side by side on several machines.
// There are two kinds: curves over the context, and a grid over all conditions that a paper leaves
// open.
//
//   curves:                                     grids:
//     - id: tpla.fig3                             - id: tpla.decode_speedup_32k
//       machines: machines                          machines: machines
//       cases: [{label, ways: [...]}]               cases: [{label, baseline, other, paper, near}]
//       contexts: [1024, 2048]                      tiles: [{label, kernel}]
//                                                   regions, output_projections, batches, hosts
#include <optional>
#include <string>
#include <vector>

#include "reports/papers/studies/study.hpp"
#include "sim/base/units.hpp"
#include "workloads/attention/attention_kernel_config.hpp"
#include "workloads/llm/parallel_config.hpp"
#include "workloads/llm/step_config.hpp"

namespace tiersim {

/// Alternatives for one step. The first is the reference of the others.
struct CurveCase {
  std::string label = {};
  std::vector<StudyVariant> ways = {};
};
void describe(Fields& f, CurveCase& c);

/// A bound on the ratio of one way to the first, over machines, cases and contexts.
struct CurveCheck {
  std::string id = {};
  std::string says = {};
  std::string way = {};
  std::string of_case = {};    ///< all where empty
  std::string machine = {};    ///< all where empty
  std::string other_way = {};  ///< the reference instead of the first way
  std::int64_t from = 0;       ///< smallest context, in positions
  std::int64_t to = 0;
  std::optional<double> at_least = {};
  std::optional<double> at_most = {};
  std::string why = {};  ///< where the bounds come from
};
void describe(Fields& f, CurveCheck& c);

/// A printed ratio at one context, where the paper does not say which way it is of. It is to be
/// explained, not met.
struct CurvePrinted {
  std::string id = {};
  std::string says = {};
  std::vector<std::string> ways = {};
  std::int64_t at = 0;
  double paper = 0;
  double near = 0;  ///< relative distance that counts as near
};
void describe(Fields& f, CurvePrinted& c);

struct Curves {
  std::string id = {};
  std::string title = {};
  std::string where = {};
  std::string machines = {};  ///< list of variants
  std::vector<CurveCase> cases = {};
  std::vector<std::int64_t> contexts = {};
  bool largest_batch = false;
  std::string metric = {};
  bool digest = true;  ///< true where its tables are on the terminal without --full
  std::vector<CurveCheck> checks = {};
  std::vector<CurvePrinted> printed = {};
  std::vector<std::string> notes = {};
};
void describe(Fields& f, Curves& c);

struct GridCase {
  std::string label = {};
  StudyVariant base;
  StudyVariant other;
  double paper = 0;
  double near = 0;  ///< relative distance that counts as near
};
void describe(Fields& f, GridCase& c);

struct GridTiles {
  std::string label = {};
  AttentionKernelConfig kernel;
};
void describe(Fields& f, GridTiles& c);

/// The largest batch that fits this share of memory: each way has its own, or both have the base's.
struct GridBatch {
  std::string label = {};
  double near_share = 1;
  bool same = false;
};
void describe(Fields& f, GridBatch& c);

struct GridHost {
  std::string label = {};
  Duration step{};
};
void describe(Fields& f, GridHost& c);

/// A cell that was worked out by hand, with one ratio for each case.
struct KnownCell {
  std::string id = {};
  std::string machine = {};
  std::string tiles = {};
  Region region = Region::attention;
  OutputProjection output_projection = OutputProjection::replicated;
  std::string batch = {};
  std::string host = {};
  std::vector<double> ratios = {};  ///< by case; 0: not worked out
  double tolerance = 0;             ///< relative
  bool approximate = false;         ///< worked out roughly: shown and not checked
  std::string why = {};
};
void describe(Fields& f, KnownCell& c);

/// The cells with the choices that the paper states. An empty list stands for all of its choices.
struct GridSubset {
  std::string id = {};
  std::string says = {};
  std::vector<std::string> machines = {};
  std::vector<std::string> tiles = {};
  std::vector<Region> regions = {};
  std::vector<std::string> batches = {};
  std::vector<std::string> hosts = {};
};
void describe(Fields& f, GridSubset& c);

struct SpeedupGrid {
  std::string id = {};
  std::string title = {};
  std::string where = {};
  std::string machines = {};
  std::vector<GridCase> cases = {};
  std::vector<GridTiles> tiles = {};
  std::vector<Region> regions = {};
  std::vector<OutputProjection> output_projections = {};
  std::vector<GridBatch> batches = {};
  std::vector<GridHost> hosts = {};
  std::vector<KnownCell> known = {};
  std::vector<GridSubset> subsets = {};
  std::vector<std::string> notes = {};
};
void describe(Fields& f, SpeedupGrid& c);

}  // namespace tiersim
