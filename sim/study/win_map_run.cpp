#include "sim/study/win_map_run.hpp"

#include <future>

#include <fmt/format.h>

#include "sim/runner/load.hpp"
#include "sim/step/bound.hpp"
#include "sim/step/scenario.hpp"

namespace tiersim {
namespace {

void append(std::vector<std::string>& set, const std::vector<std::string>& more) {
  set.insert(set.end(), more.begin(), more.end());
}

// Loads with the largest context and batch, so that a value out of range is reported here.
ScenarioConfig load(const WinMap& map, const MapWay& way, const LoadOptions& files) {
  std::vector<std::string> set = files.overrides;
  append(set, way.set);
  append(set, {fmt::format("step.context={}", map.contexts.back()),
               fmt::format("step.batch={}", map.batches.back())});
  return load_scenario(config_root() / way.scenario, set, files.bases).config;
}

double tokens_per_s(const ScenarioConfig& config, const System& system) {
  const StepGraph graph = build_graph(config, system);
  const Bound bound = bound_of(graph, system, system.plan(graph));
  return static_cast<double>(replicas(config) * graph.tokens) / to_seconds(bound.time);
}

// One panel: fills the rates of every variant.
void run_panel(const WinMap& map, const LoadOptions& files,
               std::vector<std::vector<CellRates>>& rates) {
  for (std::size_t w = 0; w < map.ways.size(); ++w) {
    ScenarioConfig config = load(map, map.ways[w], files);
    const System system = build_system(config);
    for (std::size_t x = 0; x < map.contexts.size(); ++x) {
      config.step.context = map.contexts[x];
      const std::int64_t most = largest_batch(config, system);
      for (std::size_t b = 0; b < map.batches.size() && map.batches[b] <= most; ++b) {
        config.step.batch = map.batches[b];
        rates[b][x][w] = tokens_per_s(config, system);
      }
    }
  }
}

}  // namespace

WinMapResult run_map(const WinMap& map, const LoadOptions& files) {
  WinMapResult result(map);
  std::vector<std::future<void>> panels;  // each panel writes its own rates
  for (std::size_t r = 0; r < map.rows.size(); ++r)
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      LoadOptions of_panel = files;
      append(of_panel.overrides, map.columns[c].set);
      append(of_panel.overrides, map.rows[r].set);
      panels.push_back(std::async(std::launch::async, [&result, r, c, of_panel] {
        run_panel(result.map, of_panel, result.rates[r][c]);
      }));
    }
  for (std::future<void>& panel : panels) panel.get();
  return result;
}

std::vector<ReportSection> reproduce_maps(const Targets& targets, const LoadOptions& files) {
  std::vector<ReportSection> out;
  for (const WinMap& map : targets.maps) out.push_back(section_of(run_map(map, files)));
  return out;
}

}  // namespace tiersim
