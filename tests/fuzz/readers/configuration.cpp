#include <algorithm>
#include <array>
#include <memory>

#include "hwmodels/calibrate/table/timing_table_config.hpp"
#include "reports/papers/reproduce/targets.hpp"
#include "sim/config/describe.hpp"
#include "sim/runner/device_file.hpp"
#include "sim/runner/runnable.hpp"
#include "sim/step/importers.hpp"
#include "sim/sweep/sweep_config.hpp"
#include "sim/validate/fidelity_map_config.hpp"
#include "sim/validate/hardware_curves.hpp"
#include "sim/validate/prediction_set.hpp"
#include "sim/validate/published_runs.hpp"
#include "sim/validate/run_table_config.hpp"
#include "sim/validate/sensitivity_config.hpp"
#include "tests/fuzz/readers/readers.hpp"
#include "workloads/llm/execution_config.hpp"

namespace tiersim::fuzz {
namespace {

// The configuration that was read is the one that its canonical text gives.
template <class Config>
void read_kind(const Document& document, std::string_view kind, Diagnostics& diagnostics) {
  const auto config = read<Config>(document, kind, diagnostics);
  if (!diagnostics.ok()) return expect_places(diagnostics);
  const std::string written = canonical_json(config);
  Diagnostics faults;
  const Document again = load_text(written, "written.yaml", {}, faults);
  const auto same = read<Config>(again, kind, faults);
  promise(faults.ok(), "the canonical text has mistakes: " + faults.text());
  promise(canonical_json(same) == written, "the canonical text changes when it is read");
  (void)canonical_text_for_id(config);
  (void)show_config(document, config);
  (void)list_numbers(config);
}

struct Kind {
  std::string_view name;
  std::string_view folder;  // of configs/, where its files name their bases from
  void (*read)(const Document& document, std::string_view kind, Diagnostics& diagnostics);
};
constexpr std::array<Kind, 18> kKinds{{
    {"scenario", "scenarios/methods", read_kind<ScenarioConfig>},
    {"serving", "serving", read_kind<ServingConfig>},
    {"sweep", "sweeps", read_kind<SweepConfig>},
    {"server", "servers", read_kind<ServerConfig>},
    {"execution", "engines", read_kind<ExecutionConfig>},
    {"speculation", "speculation", read_kind<SpeculationConfig>},
    {"system", "systems", read_kind<SystemConfig>},
    {"model", "models", read_kind<LlmConfig>},
    {"device", "devices", read_kind<DeviceFile>},
    {"economics", "economics", read_kind<EconomicsConfig>},
    {"targets", "", read_kind<Targets>},
    {"prediction_set", "predictions", read_kind<PredictionSet>},
    {"published_runs", "", read_kind<PublishedRuns>},
    {"run_table", "run_tables", read_kind<RunTableConfig>},
    {"hardware_curves", "", read_kind<HardwareCurves>},
    {"fidelity_map", "", read_kind<FidelityMapConfig>},
    {"sensitivity", "", read_kind<SensitivityConfig>},
    {"timing_table", "calibration/tables", read_kind<TimingTableConfig>},
}};

// The kind that the first schema line of the text states; a scenario where it states none.
const Kind& kind_of(std::string_view text) {
  constexpr std::string_view kSchema = "schema: tiersim.";
  const std::size_t at = text.find(kSchema);
  if (at == std::string_view::npos) return kKinds.front();
  text.remove_prefix(at + kSchema.size());
  const std::string_view name = text.substr(0, text.find('/'));
  const auto* const found = std::ranges::find(kKinds, name, &Kind::name);
  return found == kKinds.end() ? kKinds.front() : *found;
}

const LoadOptions& options() {
  static const LoadOptions all{.overrides = {},
                               .config_root = shipped_configs(),
                               .importers = make_all_importers(),
                               .bases = std::make_shared<BaseFiles>()};
  return all;
}

}  // namespace

void read_configuration(std::string_view text) {
  const Kind& kind = kind_of(text);
  Diagnostics diagnostics;
  const Document document = load_text(
      std::string(text), shipped_configs() / kind.folder / "text.yaml", options(), diagnostics);
  kind.read(document, kind.name, diagnostics);
}

// Over a model, which is short, or over a scenario where the first line says so.
void read_settings(std::string_view text) {
  constexpr std::size_t kMost = 8;
  constexpr std::string_view kScenario = "scenario\n";
  const bool scenario = text.starts_with(kScenario);
  if (scenario) text.remove_prefix(kScenario.size());
  LoadOptions with = options();
  while (!text.empty() && with.overrides.size() < kMost) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    with.overrides.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  Diagnostics diagnostics;
  const char* base =
      scenario ? "schema: tiersim.scenario/v1\nbase: scenarios/methods/llama3_8b_maple.yaml\n"
                 "system: {gpu: {calibration: none}}\n"
               : "schema: tiersim.model/v1\nbase: models/llama3_8b.yaml\n";
  const Document document = load_text(base, shipped_configs() / "text.yaml", with, diagnostics);
  if (scenario)
    read_kind<ScenarioConfig>(document, "scenario", diagnostics);
  else
    read_kind<LlmConfig>(document, "model", diagnostics);
}

}  // namespace tiersim::fuzz
