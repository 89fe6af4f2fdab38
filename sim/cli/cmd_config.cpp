// tiersim config show FILE: the effective configuration and the origin of each value.
// tiersim config schema KIND: JSON Schema for editors.
// tiersim config init KIND: a file to start from, every key with its meaning.
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "hwmodels/calibrate/table/timing_table_config.hpp"
#include "reports/papers/reproduce/targets.hpp"
#include "reports/render/table.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/config/starting_text.hpp"
#include "sim/record/record_schema.hpp"
#include "sim/runner/device_file.hpp"
#include "sim/runner/load.hpp"
#include "sim/runner/shipped_file.hpp"
#include "sim/sweep/sweep_config.hpp"
#include "sim/validate/fidelity_map_config.hpp"
#include "sim/validate/hardware_curves.hpp"
#include "sim/validate/prediction_set.hpp"
#include "sim/validate/published_runs.hpp"
#include "sim/validate/run_table_config.hpp"
#include "sim/validate/sensitivity_config.hpp"
#include "workloads/llm/execution_config.hpp"

namespace tiersim::cli {
namespace {

namespace fs = std::filesystem;

struct ConfigArguments {
  std::string config;
  std::vector<std::string> set;
  std::string kind;
  std::string from;
  std::string output;
};

/// The kind of a file, as its line `schema: tiersim.<name>/v1` gives it.
struct FileKind {
  const char* name;
  const char* what;
  std::string (*schema)(const FileKind& kind);
  /// Null of files that are no configurations.
  std::string (*show)(const FileKind& kind, const Document& document);
  std::string (*start)(const FileKind& kind, const Document& example, const StartingText& text);
  const char* example = nullptr;  ///< what a new file of a user's starts from; null: nobody's
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
      const auto family = static_cast<KernelFamily>(f);
      if (unit->family_for(family) != family) continue;
      const KernelBasis basis = unit->basis(family);
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
  std::string out = lines_of(config.system.gpu.spec.get());
  if (config.ffn) out += "# ffn.system:\n" + lines_of(config.ffn->system.gpu.spec.get());
  return out;
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
Config read_kind(const FileKind& kind, const Document& document) {
  Diagnostics diagnostics;
  auto config = read<Config>(document, kind.name, diagnostics);
  throw_if_any(diagnostics);
  return config;
}

template <class Config>
FileKind file_kind(const char* name, const char* what, const char* example = nullptr) {
  return {name,
          what,
          [](const FileKind& kind) {
            return json_schema<Config>(kind.name, std::string("tiersim ") + kind.what);
          },
          [](const FileKind& kind, const Document& document) {
            const auto config = read_kind<Config>(kind, document);
            return show_config(document, config) + kernel_lines(config);
          },
          [](const FileKind& kind, const Document& document, const StartingText& text) {
            return starting_text(document, read_kind<Config>(kind, document), text);
          },
          example};
}

std::array<FileKind, 20> file_kinds() {
  return {
      file_kind<ScenarioConfig>("scenario", "scenario", "scenarios/methods/llama3_8b_maple.yaml"),
      file_kind<ServingConfig>("serving", "server under load",
                               "serving/llama3_8b_h100_poisson.yaml"),
      file_kind<SweepConfig>("sweep", "design space", "sweeps/decode_1000.yaml"),
      file_kind<ServerConfig>("server", "inference server", "servers/vllm_v1.yaml"),
      file_kind<ExecutionConfig>("execution", "kernels of an engine", "engines/vllm_v1.yaml"),
      file_kind<SpeculationConfig>("speculation", "drafted tokens and how many are accepted",
                                   "speculation/mtp_glm_5_2.yaml"),
      file_kind<SystemConfig>("system", "system", "systems/h200_cxl_pool.yaml"),
      file_kind<TopologyConfig>("topology", "how the GPUs of a cluster are joined",
                                "topologies/dgx_h100_rails_16.yaml"),
      file_kind<LlmConfig>("model", "model", "models/llama3_8b.yaml"),
      file_kind<DeviceFile>("device", "device", "devices/gh200_lpddr5x.yaml"),
      file_kind<EconomicsConfig>("economics", "economics", "economics/default.yaml"),
      file_kind<Targets>("targets", "paper targets"),
      file_kind<PredictionSet>("prediction_set", "questions to be simulated before a measurement"),
      file_kind<PublishedRuns>("published_runs", "published measurements of servers"),
      file_kind<RunTableConfig>("run_table", "description of a table of measured runs of servers"),
      file_kind<HardwareCurves>("hardware_curves", "reference curves of hardware"),
      file_kind<FidelityMapConfig>("fidelity_map", "hardware on which the levels are compared"),
      file_kind<SensitivityConfig>("sensitivity",
                                   "cases that could catch a wrong number of a device"),
      file_kind<TimingTableConfig>("timing_table", "description of a table of kernel timings"),
      FileKind{.name = "record",
               .what = "record of a run",
               .schema = [](const FileKind&) { return record_schema(); },
               .show = nullptr,
               .start = nullptr}};
}

std::vector<std::string> kind_names(bool shown_only = false) {
  std::vector<std::string> names;
  for (const FileKind& kind : file_kinds())
    if (kind.show != nullptr || !shown_only) names.emplace_back(kind.name);
  return names;
}

// Those that people write.
std::vector<std::string> kinds_to_start() {
  std::vector<std::string> names;
  for (const FileKind& kind : file_kinds())
    if (kind.example != nullptr) names.emplace_back(kind.name);
  return names;
}

// "did you mean 'x'? the kinds are: ...".
std::string kinds_hint(const std::string& given, const std::vector<std::string>& names) {
  const std::string_view near = nearest(given, names);
  const std::string all = "the kinds are: " + join(names);
  return near.empty() ? all : fmt::format("did you mean '{}'? {}", near, all);
}

ExitCode show(const ConfigArguments& options) {
  Diagnostics diagnostics;
  const Document document =
      load_document(shipped_file(options.config), standard_options(options.set), diagnostics);
  throw_if_any(diagnostics);
  const SchemaTag& tag = document.root().schemas.back();  // the loader requires it
  for (const FileKind& kind : file_kinds()) {
    if (tag.kind != kind.name || kind.show == nullptr) continue;
    fmt::print("{}", kind.show(kind, document));
    return ExitCode::ok;
  }
  diagnostics.report({tag.origin.location(),
                      fmt::format("files of kind '{}' are not known", tag.kind),
                      kinds_hint(tag.kind, kind_names(true))});
  throw_if_any(diagnostics);
  return ExitCode::internal;
}

ExitCode schema(const std::string& name) {
  if (name.empty()) {
    Table table{.title = "", .columns = {{"kind", Align::left}, {"description", Align::left}}};
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
                                             printable(name), kinds_hint(name, kind_names())));
}

// The line by which editors find the schema: by a path that stays true where the file moves with
// the shipped ones, else by a whole one. Empty where the kind has no shipped schema.
std::string editor_line(const std::string& kind, const std::string& output) {
  const fs::path root = fs::canonical(config_root());
  const fs::path schema = root / "schema" / (kind + ".schema.json");
  if (!fs::is_regular_file(schema)) return "";
  fs::path shown = schema;
  if (!output.empty() && output != "-") {
    const fs::path folder = fs::weakly_canonical(fs::absolute(output)).parent_path();
    const fs::path below = folder.lexically_relative(root.parent_path());
    if (!below.empty() && *below.begin() != "..") shown = schema.lexically_relative(folder);
  }
  return fmt::format("# yaml-language-server: $schema={}\n", shown.generic_string());
}

ExitCode init(const ConfigArguments& options) {
  for (const FileKind& kind : file_kinds()) {
    if (options.kind != kind.name || kind.example == nullptr) continue;
    const std::string& output = options.output;
    expect_writable(output);
    if (!output.empty() && output != "-" && fs::exists(output))
      throw Failure(ExitCode::usage,
                    fmt::format("tiersim: error: '{}' is there already; give another name",
                                printable(output)));
    Diagnostics diagnostics;
    const fs::path example =
        options.from.empty() ? config_root() / kind.example : shipped_file(options.from);
    const Document document = load_document(example, standard_options(), diagnostics);
    throw_if_any(diagnostics);
    const StartingText text{.head = editor_line(options.kind, output),
                            .config_root = config_root()};
    write_file(output.empty() ? "-" : output, kind.start(kind, document, text));
    return ExitCode::ok;
  }
  throw Failure(ExitCode::usage,
                fmt::format("tiersim: error: there is no file of kind '{}' to start from ({})",
                            printable(options.kind), kinds_hint(options.kind, kinds_to_start())));
}

void add_init(Verb config, const std::shared_ptr<ConfigArguments>& options) {
  Verb verb = config.add("init", "Print a file to start from, with the meaning of every key");
  verb.option("KIND", options->kind, "Kind of file").type(join(kinds_to_start(), "|")).required();
  verb.option("--from", options->from, "Start from this file of the same kind, shipped or your own")
      .type("FILE");
  verb.option("-o,--output", options->output, "File to write; standard output by default")
      .type("FILE");
  verb.on_chosen([options] { return init(*options); });
}

}  // namespace

void add_config(Verb program) {
  auto options = std::make_shared<ConfigArguments>();
  Verb verb = program.add(
      "config", "Show a configuration, print a JSON schema, or create a file to start from");
  verb.needs_verb();
  Verb shown = verb.add("show", "Print the effective configuration, each value with its origin");
  shown
      .option("CONFIG", options->config,
              "Scenario, system, device or any other file that has a schema line")
      .required();
  shown.option("--set", options->set, "Override a setting of the file: a.b=value (repeatable)")
      .type(kSettingType);
  shown.on_chosen([options] { return show(*options); });
  Verb schemas =
      verb.add("schema", "Print the JSON schema of a kind of file; without KIND, list the kinds");
  schemas.option("KIND", options->kind, "Kind of file")
      .type(join(kind_names(), "|"));  // offered by completions
  schemas.on_chosen([options] { return schema(options->kind); });
  add_init(verb, options);
}

}  // namespace tiersim::cli
