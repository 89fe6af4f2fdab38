#include "sim/study/comparison_run.hpp"

#include <future>

#include <fmt/format.h>

#include "sim/runner/load.hpp"
#include "sim/step/simulate.hpp"
#include "sim/study/step_pair.hpp"

namespace tiersim {
namespace {

// The machine's settings lie over the scenario's, and the variant's over both.
ScenarioConfig load(const StudyVariant& way, const StudyVariant& machine,
                    const LoadOptions& files) {
  std::vector<std::string> set = files.overrides;
  set.insert(set.end(), machine.set.begin(), machine.set.end());
  set.insert(set.end(), way.set.begin(), way.set.end());
  return load_scenario(config_root() / way.scenario, set, files.bases).config;
}

std::vector<std::string> labels(const std::vector<StudyVariant>& variants) {
  std::vector<std::string> out;
  for (const StudyVariant& variant : variants) out.push_back(variant.label);
  return out;
}

CurvePoint point(ScenarioConfig& config, const Curves& curves) {
  if (curves.largest_batch) {
    config.step.batch = 1;
    config.step.batch = largest_batch(config, build_system(config));
    if (config.step.batch == 0) return {.problem = "not even one sequence fits at this context"};
  }
  auto simulated = simulate(config, Evaluation::times, Provenance::classes);
  if (!simulated) return {.problem = simulated.error(), .batch = config.step.batch};
  if (!simulated->record.metrics.contains(curves.metric))
    throw Failure(ExitCode::bad_config,
                  fmt::format("tiersim: error: {}: '{}' has no metric '{}' (a decode step has "
                              "tpot_s, a prefill ttft_s)",
                              curves.id, config.name, curves.metric));
  RunRecord record = (*std::move(simulated)).record;
  record.run_id = run_id_of(config);
  return {.record = std::make_shared<const RunRecord>(std::move(record)),
          .batch = config.step.batch};
}

// Batches of the two variants under one rule; 0 if not even one sequence fits.
std::pair<std::int64_t, std::int64_t> batches(ScenarioConfig& base, ScenarioConfig& other,
                                              const GridBatch& rule) {
  const auto largest = [&](ScenarioConfig& config) {
    config.placement.near_share = rule.near_share;
    config.step.batch = 1;
    return largest_batch(config, build_system(config));
  };
  const std::int64_t of_base = largest(base);
  const std::int64_t of_other = largest(other);
  if (rule.same) return {std::min(of_base, of_other), std::min(of_base, of_other)};
  return {of_base, of_other};
}

// One pair of machine and case: its two variants at every combination of the other parameters.
class GridColumn {
 public:
  GridColumn(const SpeedupGrid& grid, const GridCase& which, const StudyVariant& machine,
             const LoadOptions& files)
      : grid_(grid),
        base_(load(which.base, machine, files)),
        other_(load(which.other, machine, files)) {
    for (auto* config : {&base_, &other_}) config->attention_kernel = {};
    for (std::size_t p = 0; p < grid_.output_projections.size(); ++p)
      for (std::size_t b = 0; b < grid_.batches.size(); ++b)
        for (std::size_t r = 0; r < grid_.regions.size(); ++r) pairs_.push_back(pair(p, b, r));
  }

  std::optional<Speedup> speedup(const GridCell& cell) const {
    const auto& pair =
        pairs_[(cell.output_projection * grid_.batches.size() + cell.batch) * grid_.regions.size() +
               cell.region];
    if (!pair) return std::nullopt;
    return pair->speedup(grid_.tiles[cell.tiles].kernel, grid_.hosts[cell.host].step);
  }

 private:
  std::optional<StepPair> pair(std::size_t projection, std::size_t batch, std::size_t region) {
    other_.parallel.output_projection = grid_.output_projections[projection];
    for (auto* config : {&base_, &other_}) config->step.region = grid_.regions[region];
    const auto [of_base, of_other] = batches(base_, other_, grid_.batches[batch]);
    if (of_base == 0 || of_other == 0) return std::nullopt;
    auto made = StepPair::make(base_, other_, of_base, of_other);
    if (!made) throw Failure(ExitCode::bad_config, "tiersim: error: " + made.error());
    return *std::move(made);
  }

  const SpeedupGrid& grid_;
  ScenarioConfig base_;
  ScenarioConfig other_;
  std::vector<std::optional<StepPair>> pairs_;  // region changes fastest, then batch, projection
};

// All combinations; the host changes fastest.
std::vector<GridCell> cells_of(const SpeedupGrid& grid, std::size_t machines) {
  std::vector<GridCell> out;
  for (std::size_t m = 0; m < machines; ++m)
    for (std::size_t t = 0; t < grid.tiles.size(); ++t)
      for (std::size_t r = 0; r < grid.regions.size(); ++r)
        for (std::size_t p = 0; p < grid.output_projections.size(); ++p)
          for (std::size_t b = 0; b < grid.batches.size(); ++b)
            for (std::size_t h = 0; h < grid.hosts.size(); ++h)
              out.push_back({.machine = m,
                             .tiles = t,
                             .region = r,
                             .output_projection = p,
                             .batch = b,
                             .host = h});
  return out;
}

}  // namespace

CurvesResult run_curves(const Curves& curves, const VariantLists& lists, const LoadOptions& files) {
  const std::vector<StudyVariant>& machines = lists.at(curves.machines);
  CurvesResult result{.curves = curves, .machines = labels(machines), .points = {}};
  for (const StudyVariant& machine : machines)
    for (const CurveCase& one : curves.cases) {
      std::vector<ScenarioConfig> ways;
      for (const StudyVariant& way : one.ways) ways.push_back(load(way, machine, files));
      for (const std::int64_t context : curves.contexts)
        for (ScenarioConfig& way : ways) {
          way.step.context = context;
          result.points.push_back(point(way, curves));
        }
    }
  return result;
}

GridResult run_grid(const SpeedupGrid& grid, const VariantLists& lists, const LoadOptions& files) {
  const std::vector<StudyVariant>& machines = lists.at(grid.machines);
  GridResult result{.grid = grid, .machines = labels(machines), .cells = {}};
  result.cells = cells_of(grid, machines.size());
  for (std::size_t m = 0; m < machines.size(); ++m)
    for (const GridCase& one : grid.cases) {
      const GridColumn column(grid, one, machines[m], files);
      for (GridCell& cell : result.cells)
        if (cell.machine == m) cell.cases.push_back(column.speedup(cell));
    }
  return result;
}

// Sections share nothing, so that each may run on a core of its own; they keep the targets' order.
std::vector<ReportSection> reproduce_comparisons(const Targets& targets, const LoadOptions& files) {
  std::vector<std::future<ReportSection>> sections;
  for (const Curves& curves : targets.curves)
    sections.push_back(std::async(std::launch::async, [&] {
      return section_of(run_curves(curves, targets.variants, files));
    }));
  for (const SpeedupGrid& grid : targets.grids)
    sections.push_back(std::async(
        std::launch::async, [&] { return section_of(run_grid(grid, targets.variants, files)); }));
  std::vector<ReportSection> out;
  for (auto& section : sections) out.push_back(section.get());
  return out;
}

}  // namespace tiersim
