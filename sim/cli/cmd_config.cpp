// tiersim config show FILE: the effective configuration and the origin of each value.
// tiersim config schema KIND: JSON Schema for editors.
#include <array>

#include <fmt/format.h>

#include "reports/papers/reproduce/targets.hpp"
#include "reports/render/table.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/record/record_schema.hpp"
#include "sim/runner/device_file.hpp"
#include "sim/runner/load.hpp"
#include "sim/sweep/sweep_config.hpp"
#include "sim/validate/fidelity_map_config.hpp"
#include "sim/validate/hardware_curves.hpp"
#include "sim/validate/prediction_set.hpp"
#include "sim/validate/published_runs.hpp"
#include "sim/validate/sensitivity_config.hpp"

namespace tiersim::cli {
namespace {

struct ConfigArguments {
  std::string config;
  std::vector<std::string> set;
  std::string kind;
};

/// The kind of a file, as its line `schema: tiersim.<name>/v1` gives it.
struct FileKind {
  const char* name;
  const char* what;
  std::string (*schema)(const FileKind& kind);
  /// Null of files that are no configurations.
  std::string (*show)(const FileKind& kind, const Document& document);
};

// The provenance of each kernel family of the GPU, as comments below the configuration.
std::string lines_of(const DeviceSpec<ComputeUnit>* spec) {
  if (spec == nullptr) return "";
  std::string out =
      "# kernel times: 1. fitted on this device  2. transferred from another device by the ratio "
      "of "
      "ceilings, widened  3. specification\n";
  try {
    const auto unit = spec->build();
    for (std::size_t f = 0; f < kKernelFamilyNames.size(); ++f) {
      const KernelBasis basis = unit->basis(static_cast<KernelFamily>(f));
      out += fmt::format("#   {:<19} {:<14} {}\n", kKernelFamilyNames[f], basis.basis,
                         printable(basis.source));
    }
  } catch (const UnitOverflow&) {  // a rate out of range: `run` names it
    return "";
  }
  return out;
}
std::string kernel_lines(const SystemConfig& config) {
  return lines_of(config.gpu.spec.get());
}
std::string kernel_lines(const ScenarioConfig& config) {
  return lines_of(config.system.gpu.spec.get());
}
std::string kernel_lines(const ServingConfig& config) {
  return lines_of(config.scenario.system.gpu.spec.get());
}
std::string kernel_lines(const DeviceFile& config) {
  return lines_of(config.compute.get());
}
// Files of other kinds have no kernels.
template <class Config>
std::string kernel_lines(const Config&) {
  return "";
}

template <class Config>
FileKind file_kind(const char* name, const char* what) {
  return {name, what,
          [](const FileKind& kind) {
            return json_schema<Config>(kind.name, std::string("tiersim ") + kind.what);
          },
          [](const FileKind& kind, const Document& document) {
            Diagnostics diagnostics;
            const auto config = read<Config>(document, kind.name, diagnostics);
            throw_if_any(diagnostics);
            return show_config(document, config) + kernel_lines(config);
          }};
}

std::array<FileKind, 15> file_kinds() {
  return {
      file_kind<ScenarioConfig>("scenario", "scenario"),
      file_kind<ServingConfig>("serving", "server under load"),
      file_kind<SweepConfig>("sweep", "design space"),
      file_kind<ServerConfig>("server", "inference server"),
      file_kind<SystemConfig>("system", "system"),
      file_kind<LlmConfig>("model", "model"),
      file_kind<DeviceFile>("device", "device"),
      file_kind<EconomicsConfig>("economics", "economics"),
      file_kind<Targets>("targets", "paper targets"),
      file_kind<PredictionSet>("prediction_set", "questions to be simulated before a measurement"),
      file_kind<PublishedRuns>("published_runs", "published measurements of servers"),
      file_kind<HardwareCurves>("hardware_curves", "reference curves of hardware"),
      file_kind<FidelityMapConfig>("fidelity_map", "hardware on which the levels are compared"),
      file_kind<SensitivityConfig>("sensitivity",
                                   "cases that could catch a wrong number of a device"),
      FileKind{"record", "record of a run", [](const FileKind&) { return record_schema(); },
               nullptr}};
}

std::vector<std::string> kind_names(bool shown_only = false) {
  std::vector<std::string> names;
  for (const FileKind& kind : file_kinds())
    if (kind.show != nullptr || !shown_only) names.emplace_back(kind.name);
  return names;
}

// "did you mean 'x'? the kinds are: ...".
std::string kinds_hint(const std::string& given, bool shown_only = false) {
  const auto names = kind_names(shown_only);
  const std::string_view near = nearest(given, names);
  const std::string all = "the kinds are: " + join(names);
  return near.empty() ? all : fmt::format("did you mean '{}'? {}", near, all);
}

ExitCode show(const ConfigArguments& options) {
  Diagnostics diagnostics;
  const Document document =
      load_document(options.config, standard_options(options.set), diagnostics);
  throw_if_any(diagnostics);
  const SchemaTag& tag = document.root().schemas.back();  // the loader requires it
  for (const FileKind& kind : file_kinds()) {
    if (tag.kind != kind.name || kind.show == nullptr) continue;
    fmt::print("{}", kind.show(kind, document));
    return ExitCode::ok;
  }
  diagnostics.report({tag.origin.location(),
                      fmt::format("files of kind '{}' are not known", tag.kind),
                      kinds_hint(tag.kind, true)});
  throw_if_any(diagnostics);
  return ExitCode::internal;
}

ExitCode schema(const std::string& name) {
  if (name.empty()) {
    Table table{.title = "", .columns = {{"kind", Align::left}, {"what", Align::left}}};
    for (const FileKind& kind : file_kinds())
      table.add(
          {kind.name,
           fmt::format("JSON Schema of files that begin with schema: tiersim.{}/v1", kind.name)});
    fmt::print("{}", to_text(table));
    return ExitCode::ok;
  }
  for (const FileKind& kind : file_kinds()) {
    if (name != kind.name) continue;
    fmt::print("{}", kind.schema(kind));
    return ExitCode::ok;
  }
  throw Failure(ExitCode::usage, fmt::format("tiersim: error: there is no kind of file '{}' ({})",
                                             printable(name), kinds_hint(name)));
}

}  // namespace

void add_config(Verb program) {
  auto options = std::make_shared<ConfigArguments>();
  Verb verb = program.add("config", "Show a configuration or print its schema");
  verb.needs_verb();
  Verb shown = verb.add("show", "Effective configuration, each value with its origin");
  shown.option("CONFIG", options->config, "File with a schema line: a scenario, system, ...")
      .required();
  shown.option("--set", options->set, "Override a setting: a.b=value (repeatable)")
      .type(kSettingType);
  shown.on_chosen([options] { return show(*options); });
  Verb schemas = verb.add("schema", "JSON Schema, for editors; without KIND, the kinds");
  schemas.option("KIND", options->kind, "Kind of file")
      .type(join(kind_names(), "|"));  // offered by completions
  schemas.on_chosen([options] { return schema(options->kind); });
}

}  // namespace tiersim::cli
