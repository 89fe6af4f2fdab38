#include "sim/sweep/sweep_plan.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/version.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/snapshot.hpp"
#include "sim/runner/runnable.hpp"
#include "sim/sweep/setting_check.hpp"

namespace tiersim {
namespace fs = std::filesystem;
namespace {

std::string digest_of(const SweepConfig& config, const SweepInputs& inputs) {
  std::string text = canonical_json(config) + '\n' + std::string(kVersion);
  for (const auto& [files, snapshot] : inputs) {
    text += '\n' + files.scenario.string();
    for (const std::string& option : files.set) text += '\n' + option;
    text += '\n' + snapshot;
  }
  return sha256_hex(text);
}

// Most points share their files, which the check of the settings has already read.
class Preparer {
 public:
  Preparer(PointLoader& loader, const PointLoader& checked, Diagnostics& diagnostics)
      : loader_(loader), checked_(checked), diagnostics_(diagnostics) {}

  void prepare(const SpacePoint& point) {
    const Point files = loader_.files_of(point_of(point));
    if (files == last_) return;
    last_ = files;
    if (loader_.documents().contains(files)) return;
    const auto known = checked_.documents().find(files);
    if (known != checked_.documents().end())
      loader_.adopt(files, known->second);
    else
      loader_.prepare(files, diagnostics_);
  }

 private:
  PointLoader& loader_;
  const PointLoader& checked_;
  Diagnostics& diagnostics_;
  Point last_;
};

// True where a reading gives the metric; servers give theirs in any reading.
bool has(SweepReading reading, std::string_view metric) {
  constexpr std::array<std::string_view, 10> kOfTheEngine{"step_time_s",
                                                          "tpot_s",
                                                          "ttft_s",
                                                          "handover_s",
                                                          "screening_time_s",
                                                          "throughput_tokens_per_s",
                                                          "energy_j_per_token",
                                                          "gpu_energy_j_per_token",
                                                          "power_w.mean",
                                                          "cost_usd_per_mtoken"};
  if (reading >= SweepReading::times) return true;
  if (std::ranges::find(kOfTheEngine, metric) != kOfTheEngine.end()) return false;
  return reading == SweepReading::analytic || metric != "bound_s";
}

void check_reading(const SweepConfig& config, const Document& document,
                   const ObjectiveSet& objectives, const PointLoader& loader,
                   Diagnostics& diagnostics) {
  for (const auto& [files, loaded] : loader.documents())
    if (is_of_server(loaded)) return;
  for (std::size_t i = 0; i < objectives.objectives().size(); ++i) {
    const std::string& metric = objectives.objectives()[i].metric;
    const std::string path = fmt::format("objectives.{}", i);
    if (!has(config.reading, metric))
      diagnostics.report(
          {.where = document.locate(path),
           .message =
               fmt::format("a reading by {} has no {}",
                           kSweepReadingNames[static_cast<std::size_t>(config.reading)], metric),
           .hint = config.reading == SweepReading::analytic ? "minimize bound_s, or reading: times"
                                                            : "reading: times",
           .path = path});
  }
}

// Prepares every value of every axis of a search, with the other axes at their first value: enough
// to read every file that a point may name, but not in every combination.
void prepare_lattices(const DesignSpace& space, Preparer& preparer) {
  for (std::size_t grid = 0; grid < space.grids(); ++grid) {
    const std::vector<std::int64_t> sizes = space.sizes(grid);
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
      for (std::int64_t value = 0; value < sizes[axis]; ++value) {
        DesignSpace::Coordinates place(sizes.size());
        place[axis] = value;
        if (const auto point = space.at(grid, place)) preparer.prepare(*point);
      }
  }
}

double candidates(const DesignSpace& space) {
  double all = 0;
  for (std::size_t grid = 0; grid < space.grids(); ++grid) {
    double of_grid = 1;
    for (const std::int64_t size : space.sizes(grid)) of_grid *= static_cast<double>(size);
    all += of_grid;
  }
  return all;
}

constexpr double kMostWalked = 1e6;  // most candidates whose files a search reads at once: 3 s

bool is_spec(const Document& document) {
  const auto& schemas = document.root().schemas;
  return !schemas.empty() && schemas.back().kind == "sweep";
}

// True where points in the store are those of the space, as far as the first ones show.
bool is_same_space(const DesignSpace& space, bool is_search, const StoredSweep& sweep,
                   SweepStore& store) {
  constexpr std::size_t kMostCompared = 1000;
  if (space.columns() != sweep.columns) return false;
  if (is_search) return true;  // its positions are in the order of its choices
  std::map<std::int64_t, std::vector<std::string>> known;
  store.for_each(sweep, [&](const StoredPoint& stored) {
    known.emplace(stored.point.position, stored.point.labels);
    return known.size() < kMostCompared;
  });
  std::int64_t points = 0;
  bool same = true;
  const auto problem = space.for_each([&](const SpacePoint& point) {
    const auto at = known.find(point.position);
    same = same && (at == known.end() || at->second == point.labels);
    ++points;
    return same;
  });
  return !problem && same && points == *sweep.points;
}

}  // namespace

std::unique_ptr<SweepPlan> SweepPlan::make(const fs::path& spec, const LoadOptions& options,
                                           Diagnostics& diagnostics) {
  std::unique_ptr<SweepPlan> plan(new SweepPlan);
  const Document document = plan->read_spec(spec, options, diagnostics);
  if (!is_spec(document)) return nullptr;  // already reported
  const SweepConfig& config = plan->config_;
  ScenarioFiles files(document, options);
  plan->space_ = load_space(config, document, files, diagnostics);
  if (plan->space_)
    plan->objectives_ = ObjectiveSet::build(config, *plan->space_, document, diagnostics);
  if (!diagnostics.ok()) return nullptr;

  plan->loader_ = std::make_unique<PointLoader>(files.new_loader());
  std::int64_t points = 0;
  Preparer preparer(*plan->loader_, files.loader(), diagnostics);
  if (config.search && candidates(*plan->space_) > kMostWalked) {
    prepare_lattices(*plan->space_, preparer);
  } else {
    const auto problem = plan->space_->for_each([&](const SpacePoint& point) {
      preparer.prepare(point);
      ++points;
      return true;
    });
    if (problem) diagnostics.report(*problem);
  }
  check_reading(config, document, *plan->objectives_, *plan->loader_, diagnostics);
  if (!diagnostics.ok()) return nullptr;
  plan->break_even_ =
      BreakEvenQuestion::build(config, *plan->space_, document, *plan->loader_, diagnostics);
  check_summary(config, *plan->space_, document, diagnostics);
  if (!diagnostics.ok()) return nullptr;
  StoredSweep& sweep = plan->sweep_;
  sweep.name = config.name;
  sweep.file = spec.filename().string();
  sweep.spec = canonical_json(config);
  sweep.version = kVersion;
  sweep.extent = extent_text(config.reading, config.keep);
  sweep.columns = plan->space_->columns();
  if (!config.search) sweep.points = points;
  for (const auto& [point, file] : plan->loader_->documents())
    plan->inputs_.emplace_back(point, snapshot_text(file));
  sweep.digest = digest_of(config, plan->inputs_);
  return plan;
}

std::unique_ptr<SweepPlan> SweepPlan::resume(const fs::path& spec, const LoadOptions& options,
                                             SweepStore& store) {
  std::unique_ptr<SweepPlan> plan(new SweepPlan);
  Diagnostics diagnostics;
  const Document document = plan->read_spec(spec, options, diagnostics);
  if (!is_spec(document) || !diagnostics.ok()) return nullptr;
  const SweepConfig& config = plan->config_;
  const auto sweep = last_of(store, canonical_json(config), kVersion);
  if (!sweep) return nullptr;
  ScenarioFiles files(document, options);
  plan->loader_ = std::make_unique<PointLoader>(files.new_loader());
  const SweepInputs inputs = store.inputs(sweep->sweep);
  adopt_inputs(files.loader(), inputs);
  files.freeze();
  plan->adopt(*sweep, inputs);
  plan->space_ =
      DesignSpace::build(config, document, diagnostics, count_settings(config, document, files));
  if (!plan->space_ || !is_same_space(*plan->space_, config.search.has_value(), *sweep, store))
    return nullptr;
  plan->objectives_ = ObjectiveSet::build(config, *plan->space_, document, diagnostics);
  plan->break_even_ =
      BreakEvenQuestion::build(config, *plan->space_, document, *plan->loader_, diagnostics);
  return diagnostics.ok() ? std::move(plan) : nullptr;
}

Document SweepPlan::read_spec(const fs::path& spec, const LoadOptions& options,
                              Diagnostics& diagnostics) {
  Document document = load_document(spec, options, diagnostics);
  config_ = read<SweepConfig>(document, "sweep", diagnostics);
  return document;
}

std::optional<StoredSweep> last_of(SweepStore& store, const std::string& spec,
                                   std::string_view version) {
  std::optional<StoredSweep> out;
  for (StoredSweep& sweep : store.sweeps())
    if (sweep.spec == spec && sweep.version == version) out = std::move(sweep);
  return out;
}

void SweepPlan::adopt(const StoredSweep& sweep, SweepInputs inputs) {
  sweep_ = sweep;
  inputs_ = std::move(inputs);
  adopt_inputs(*loader_, inputs_);
}

bool SweepPlan::prepare(const SpacePoint& point, Diagnostics& diagnostics) {
  return loader_->prepare(point_of(point), diagnostics);
}

void adopt_inputs(PointLoader& loader, const SweepInputs& inputs) {
  for (const auto& [files, text] : inputs) {
    Diagnostics diagnostics;
    Document document = read_snapshot(text, files.scenario, diagnostics);
    if (!diagnostics.ok())
      throw DamagedStore(fmt::format("the kept text of '{}' does not read: {}",
                                     files.scenario.string(), diagnostics.text()));
    loader.adopt(files, std::move(document));
  }
}

std::string extent_text(SweepReading reading, SweepKeep keep) {
  return fmt::format("{}/{}", kSweepReadingNames[static_cast<std::size_t>(reading)],
                     kSweepKeepNames[static_cast<std::size_t>(keep)]);
}

std::pair<SweepReading, SweepKeep> extent_of(const StoredSweep& sweep) {
  for (std::size_t r = 0; r < kSweepReadingNames.size(); ++r)
    for (std::size_t k = 0; k < kSweepKeepNames.size(); ++k) {
      const std::pair out{static_cast<SweepReading>(r), static_cast<SweepKeep>(k)};
      if (extent_text(out.first, out.second) == sweep.extent) return out;
    }
  throw StoreError(
      fmt::format("sweep '{}' has results of an unknown extent, '{}'", sweep.name, sweep.extent));
}

}  // namespace tiersim
