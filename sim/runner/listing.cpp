#include "sim/runner/listing.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "hwmodels/compute/roofline_gpu.hpp"
#include "hwmodels/device_library.hpp"
#include "sim/base/base_units.hpp"
#include "sim/base/display.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"
#include "sim/config/number_classes.hpp"
#include "sim/record/metric_names.hpp"
#include "sim/record/metrics.hpp"
#include "sim/record/table_json.hpp"
#include "sim/runner/device_file.hpp"
#include "sim/runner/load.hpp"
#include "workloads/attention/csa.hpp"
#include "workloads/attention/linear_attention.hpp"

namespace tiersim {
namespace fs = std::filesystem;

/// A file of configs/calibration: the timings that it adds to a GPU.
struct CalibrationFile {
  CalibratedFamilies kernels;
  std::map<std::string, TimedKernelConfig> timed_kernels;
};
void describe(Fields& f, CalibrationFile& c);
void describe(Fields& f, CalibrationFile& c) {
  f.doc("Kernel families of one GPU, fitted to timings.");
  f.optional("kernels", c.kernels, "By family.");
  f.optional("timed_kernels", c.timed_kernels, "By name.");
}

namespace {

Table of(std::vector<std::string> titles) {
  Table table;
  for (std::string& title : titles) table.columns.push_back({std::move(title), Align::left});
  return table;
}

void add_json_columns(Table& table, std::initializer_list<const char*> keys) {
  for (const char* key : keys) table.columns.push_back({.title = key, .readers = Readers::json});
}

template <class Kinds>
void add_kinds(Table& table, const std::string& category, const Kinds& kinds) {
  for (const auto& [kind, entry] : kinds.entries()) table.add({category, kind, entry.help});
}

Table kinds() {
  const DeviceLibrary library = make_device_library();
  Table table = of({"category", "model"});
  table.columns.push_back({"description", Align::left, "what"});
  add_kinds(table, "memory", library.memory);
  add_kinds(table, "link", library.link);
  add_kinds(table, "request", library.request);
  add_kinds(table, "compute", library.compute);
  add_kinds(table, "collective", library.collective);
  return table;
}

Table methods() {
  Table table = of({"method"});
  table.columns.push_back({"description", Align::left, "what"});
  const auto library = make_method_library();
  for (const auto& [name, kind] : library.entries()) table.add({name, kind.help});
  return table;
}

Table metrics() {
  Table table = of({"metric", "short", "unit", "definition"});
  for (const MetricDefinition& metric : kMetrics) {
    const std::string name(metric.name);
    table.add({name, short_metric(name), std::string(metric.unit), std::string(metric.meaning)});
  }
  return table;
}

std::vector<fs::path> yaml_files(const char* folder) {
  const fs::path root = config_root() / folder;
  if (!fs::is_directory(root))
    throw Failure(ExitCode::usage,
                  printable(fmt::format("tiersim: error: there is no folder '{}'", root.string())));
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string shown_path(const fs::path& path) {
  return path.lexically_relative(config_root()).generic_string();
}

template <class Config>
struct Loaded {
  Document document;
  Config config;
};

// `bases` are those of the other files of the list.
template <class Config>
Loaded<Config> read_file_of(const fs::path& path, const char* kind,
                            std::shared_ptr<BaseFiles> bases = nullptr) {
  Diagnostics diagnostics;
  LoadOptions options = standard_options();
  options.bases = std::move(bases);
  Document document = load_document(path, options, diagnostics);
  auto config = read<Config>(document, kind, diagnostics);
  throw_if_any(diagnostics);
  return {std::move(document), std::move(config)};
}

// A number of a configuration for programs: in bytes, seconds, FLOP, and ratios of these.
struct BaseValue {
  double value = 0;
  const char* unit = "";
};

template <class T>
bool parse_as(const std::string& text, const char* unit, BaseValue& out) {
  const auto parsed = parse_quantity<T>(text);
  if (!parsed) return false;
  out = {metric_units(*parsed), unit};
  return true;
}

// Nothing for a number without a unit.
std::optional<BaseValue> in_base_units(const std::string& text) {
  BaseValue out;
  if (parse_as<Bytes>(text, "B", out) || parse_as<Bandwidth>(text, "B/s", out) ||
      parse_as<FlopRate>(text, "FLOP/s", out) || parse_as<Duration>(text, "s", out))
    return out;
  return std::nullopt;
}

// A device is listed with its first number, which is its capacity, rate or latency.
Table devices() {
  Table out = of({"file", "category", "model"});
  out.columns.insert(out.columns.end(), {{"known by", Align::left, "known_by"}, {"value"}});
  add_json_columns(out, {"unit", "class"});
  const auto bases = std::make_shared<BaseFiles>();
  for (const fs::path& path : yaml_files("devices")) {
    const auto loaded = read_file_of<DeviceFile>(path, "device", bases);
    const std::vector<SourcedNumber> numbers = list_numbers(loaded.config);
    const std::string category = loaded.config.category();
    const auto value = numbers.empty() ? std::nullopt : in_base_units(numbers.front().value);
    if (!value) {  // a bound, which has no numbers, or factors on fitted times
      const Cell none(Cell::Absent{}, "-");
      out.add({shown_path(path), category, loaded.config.kind, none, none, none, none});
      continue;
    }
    const SourcedNumber& first = numbers.front();
    out.add({shown_path(path), category, loaded.config.kind, first.path,
             Cell(value->value, first.value), value->unit, name(first.number_class)});
  }
  return out;
}

// The calibrations that a GPU's kernels come from: "h200/vllm-0.24.0".
std::set<std::string> origins_of_kernels(const Node& device) {
  std::set<std::string> out;
  for (const char* fits : {"kernels", "timed_kernels"})
    if (const Entry* entry = device.find(fits))
      for (const Entry& kernel : entry->value.entries)
        if (const Entry* from = kernel.value.find("from")) out.insert(from->value.scalar);
  return out;
}

// The same with the part of a calibration that was taken: "h200/trtllm-1.3.0rc20/latent". A base
// may have named others, whose kernels were replaced.
std::vector<std::string> calibrations_of(const Loaded<DeviceFile>& device) {
  const std::set<std::string> origins = origins_of_kernels(device.document.root());
  std::set<std::string> out;
  for (const SchemaTag& schema : device.document.root().schemas) {
    const fs::path file = schema.origin.location().file;
    if (file.filename() != "gpu.yaml") continue;
    const std::string folder = file.parent_path().generic_string();
    for (const std::string& origin : origins)
      if (const std::size_t at = (folder + '/').rfind('/' + origin + '/'); at != std::string::npos)
        out.insert(folder.substr(at + 1));
  }
  return {out.begin(), out.end()};
}

Cell fits_cell(const std::vector<std::string>& fits) {
  const std::string shown = fits.empty() ? "-" : join(fits);
  return Cell(fits, shown);
}

// How many of a device's numbers are of each class; the fits of its kernels are listed by name.
Table hardware() {
  Table out = of({"file", "category", "calibrated by"});
  out.columns.back().key = "calibrated_by";
  for (const std::string_view c : kNumberClassNames)
    out.columns.push_back({std::string(c), Align::right});
  const auto bases = std::make_shared<BaseFiles>();
  for (const fs::path& path : yaml_files("devices")) {
    const auto loaded = read_file_of<DeviceFile>(path, "device", bases);
    std::array<std::int64_t, kNumberClassNames.size()> counts{};
    for (const ClassedNumber& number : list_number_classes(loaded.config))
      if (!number.path.starts_with("kernels.") && !number.path.starts_with("timed_kernels."))
        ++counts[static_cast<std::size_t>(number.number_class)];
    Row row{shown_path(path), loaded.config.category(), fits_cell(calibrations_of(loaded))};
    for (const std::int64_t count : counts)
      row.push_back(count == 0 ? Cell(count, "-") : Cell(count));
    out.add(std::move(row));
  }
  return out;
}

// The file of the GPU: "h200_gpu"; for a GPU that is given inline, its kind.
std::string gpu_of(const Loaded<SystemConfig>& system) {
  const Entry* gpu = system.document.root().find("gpu");
  if (gpu == nullptr || gpu->value.schemas.empty()) return system.config.gpu.kind;
  return fs::path(gpu->value.schemas.back().origin.location().file).stem().string();
}

std::string shared_text(const SharedConfig& shared) {
  std::string text;
  if (!shared.host.empty()) text = "by host: " + join(shared.host);
  if (!shared.all.empty()) text += (text.empty() ? "by all: " : "; by all: ") + join(shared.all);
  return text.empty() ? "-" : text;
}

Table systems() {
  Table out{.columns = {{"system", Align::left},
                        {"GPU", Align::left, "gpu"},
                        {"GPUs", Align::right, "gpus"},
                        {.title = "hosts", .readers = Readers::json},
                        {"tiers", Align::left},
                        {.title = "shared", .align = Align::left, .readers = Readers::people}}};
  add_json_columns(out, {"shared_by_host", "shared_by_all"});
  out.columns.push_back({"file", Align::left});
  const auto bases = std::make_shared<BaseFiles>();
  for (const fs::path& path : yaml_files("systems")) {
    const auto loaded = read_file_of<SystemConfig>(path, "system", bases);
    const SystemConfig& system = loaded.config;
    std::vector<std::string> texts;
    Table tiers = of({"tier", "capacity_bytes"});
    for (const auto& [name, tier] : system.tiers) {
      const Bytes capacity = tier.memory.spec->build_units(tier.unit_count())->capacity();
      texts.push_back(fmt::format("{} {}", name, format_quantity(capacity)));
      tiers.add({name, capacity.in_base()});
    }
    out.add({system.name, gpu_of(loaded), system.gpus.count, system.gpus.hosts,
             nested(std::move(tiers), join(texts)), shared_text(system.shared),
             Cell(system.shared.host, ""), Cell(system.shared.all, ""), shown_path(path)});
  }
  return out;
}

Table topologies() {
  Table out = of({"topology", "gpus", "nodes", "domain", "file"});
  for (const fs::path& path : yaml_files("topologies")) {
    const TopologyConfig topology = read_file_of<TopologyConfig>(path, "topology").config;
    out.add({topology.name, topology.gpus(), topology.nodes,
             topology.nvlink ? topology.nvlink->gpus : std::int64_t{1}, shown_path(path)});
  }
  return out;
}

// The weakest class of the fitted numbers; the transfer to other parts does not concern the
// timings.
NumberClass class_of(const CalibratedKernelConfig& kernel) {
  NumberClass all = kernel.launch.number_class;
  if (kernel.bandwidth) all = weakest(all, kernel.bandwidth->number_class);
  if (kernel.peak) all = weakest(all, kernel.peak->number_class);
  return weakest(all, kernel.misfit.number_class);
}

Table calibrations() {
  Table out = of({"calibration", "part", "class", "families"});
  add_json_columns(out, {"file"});
  for (const fs::path& path : yaml_files("calibration")) {
    if (path.filename() != "gpu.yaml") continue;
    const CalibrationFile file = read_file_of<CalibrationFile>(path, "device").config;
    const CalibratedFamilies& kernels = file.kernels;
    const std::string calibration =
        path.parent_path().lexically_relative(config_root() / "calibration").generic_string();
    std::vector<std::string> parts;
    std::vector<std::string> families;
    NumberClass number_class = NumberClass::measured;
    for (std::size_t family = 0; family < kernels.of.size(); ++family) {
      const auto& kernel = kernels.of[family];
      if (!kernel) continue;
      families.emplace_back(kKernelFamilyNames[family]);
      if (std::ranges::find(parts, kernel->part) == parts.end()) parts.push_back(kernel->part);
      number_class = weakest(number_class, class_of(*kernel));
    }
    for (const auto& [name, kernel] : file.timed_kernels) {
      if (std::ranges::find(families, kernel.form) == families.end())
        families.push_back(kernel.form);
      if (std::ranges::find(parts, kernel.part.name) == parts.end())
        parts.push_back(kernel.part.name);
      number_class = weakest(number_class, kernel.misfit.number_class);
    }
    const std::string shown_class =
        families.empty() ? "-" : std::string(tiersim::name(number_class));
    out.add(
        {calibration, join(parts), shown_class, Cell(families, join(families)), shown_path(path)});
  }
  return out;
}

std::int64_t layers_of_type(const LlmConfig& m, LayerType type) {
  std::int64_t layers = 0;
  for (std::int64_t layer = 0; layer < m.layers; ++layer)
    layers += m.type_of(layer) == type ? 1 : 0;
  return layers;
}

// The state of linear attention is counted in fp32, as SGLang keeps it. The state of compressed
// attention is counted with its window in fp16.
std::int64_t state_of_sequence(const LlmConfig& m) {
  if (m.compression) {
    Bytes sum;
    for (const LayerType type : m.types()) {
      const LlmConfig of_type = m.layers_of(type);
      sum += compressed_state(of_type, DataType::fp16) * of_type.layers;
    }
    return sum.in_base();
  }
  return m.linear ? (state_bytes(*m.linear, StateType::fp32) * m.linear_layers()).in_base() : 0;
}

std::string attention_text(const LlmConfig& m) {
  std::string text = std::to_string(m.heads) + " heads";
  if (m.mla)
    text += fmt::format(", latent {}+{}", m.mla->kv_lora_rank, m.mla->qk_rope_head_dim);
  else if (m.shared_kv)
    text += fmt::format(", one row of {}", m.head_dim);
  else if (m.kv_heads != m.heads)
    text += fmt::format(", {} KV", m.kv_heads);
  const auto reach = [&](const char* what, std::optional<std::int64_t> positions, LayerType type) {
    if (!positions) return;
    text += fmt::format(", {} {}", what, *positions);
    if (m.mixes_types()) text += fmt::format(" in {} layers", layers_of_type(m, type));
  };
  if (m.compression) {
    text += fmt::format(", window {}", *m.attention_window);
    for (const LayerType type : m.types())
      if (const LlmConfig of_type = m.layers_of(type); of_type.compression->positions > 0)
        text += fmt::format(", a row for {} positions in {} layers", of_type.compression->positions,
                            of_type.layers);
    if (m.indexer)
      text += fmt::format(", {} rows by {} index heads", m.indexer->top_k, m.indexer->heads);
    return text;
  }
  reach("window", m.attention_window, LayerType::sliding_attention);
  reach("chunks of", m.attention_chunk, LayerType::chunked_attention);
  if (m.indexer) {
    text += fmt::format(", {} rows by {} index heads", m.indexer->top_k, m.indexer->heads);
    if (m.mixes_types())
      text += fmt::format(" in {} layers", layers_of_type(m, LayerType::indexed_attention));
  }
  if (m.linear) text += fmt::format(", {} in {} layers", name(m.linear->kind), m.linear_layers());
  if (m.encoder) text += fmt::format(", encoder of {} layers", m.encoder->layers);
  return text;
}

std::string experts_text(const LlmConfig& m) {
  if (!m.moe) return "-";
  const std::string routed = fmt::format("{} of {}", m.moe->experts_per_token, m.moe->experts);
  return m.moe->shared_experts == 0 ? routed
                                    : fmt::format("{}, {} shared", routed, m.moe->shared_experts);
}

template <class Number>
Cell number_or_absent(const std::optional<Number>& number) {
  return number ? Cell(*number) : Cell(Cell::Absent{}, "");
}

template <class Part, class Number>
Cell number_of(const std::optional<Part>& part, Number Part::*number) {
  return part ? Cell((*part).*number) : Cell(Cell::Absent{}, "");
}

Row model_row(const LlmConfig& m, const std::string& file) {
  const Bytes kv = stored(m.cached_width(), DataType::fp16) + m.index_keys();
  return {m.name,
          Cell(m.parameters(), fmt::format("{:.3f} B", static_cast<double>(m.parameters()) / 1e9)),
          Cell(kv.in_base(), display(kv)),
          m.layers,
          m.hidden,
          m.heads,
          m.kv_heads,
          m.head_dim,
          attention_text(m),
          experts_text(m),
          file,
          number_of(m.mla, &MlaConfig::kv_lora_rank),
          number_of(m.mla, &MlaConfig::qk_rope_head_dim),
          number_or_absent(m.attention_window),
          number_or_absent(m.attention_chunk),
          layers_of_type(m, LayerType::full_attention) +
              layers_of_type(m, LayerType::indexed_attention) +
              layers_of_type(m, LayerType::shared_index),
          m.linear_layers(),
          state_of_sequence(m),
          number_of(m.indexer, &IndexerConfig::top_k),
          number_of(m.encoder, &EncoderConfig::layers),
          number_of(m.moe, &MoeConfig::experts),
          number_of(m.moe, &MoeConfig::experts_per_token),
          number_of(m.moe, &MoeConfig::shared_experts)};
}

Table models() {
  Table out{.columns = {{"model", Align::left},
                        {"parameters"},
                        {"KV per token (fp16)", Align::right, "kv_bytes_per_token_fp16"},
                        {"layers"}}};
  add_json_columns(out, {"hidden", "heads", "kv_heads", "head_dim"});
  for (const char* title : {"attention", "experts"})
    out.columns.push_back({.title = title, .align = Align::left, .readers = Readers::people});
  out.columns.push_back({"file", Align::left});
  add_json_columns(
      out, {"kv_lora_rank", "qk_rope_head_dim", "attention_window", "attention_chunk",
            "full_attention_layers", "linear_attention_layers", "state_bytes_per_sequence_fp32",
            "index_top_k", "encoder_layers", "experts", "experts_per_token", "shared_experts"});
  const auto bases = std::make_shared<BaseFiles>();
  for (const fs::path& path : yaml_files("models"))
    out.add(model_row(read_file_of<LlmConfig>(path, "model", bases).config, shown_path(path)));
  return out;
}

Table scenarios() {
  Table table = of({"scenario", "file", "description"});
  const auto bases = std::make_shared<BaseFiles>();
  for (const fs::path& path : yaml_files("scenarios")) {
    const ScenarioFile file = load_scenario(path, {}, bases);
    table.add({file.config.name, shown_path(path), file.config.description});
  }
  return table;
}

Table serving() {
  Table table = of({"serving", "file", "description"});
  const auto bases = std::make_shared<BaseFiles>();
  for (const fs::path& path : yaml_files("serving")) {
    const ServingFile file = load_serving(path, {}, bases);
    const ScenarioConfig& scenario = file.config.scenario;
    table.add({scenario.name, shown_path(path), scenario.description});
  }
  return table;
}

struct Kind {
  ListKind kind;
  Table (*make)();
};
constexpr std::array kKinds{
    Kind{{"hw", "List the shipped devices: calibrated by whom, and how many numbers of each class"},
         hardware},
    Kind{{"kinds", "List the models of devices"}, kinds},
    Kind{{"devices", "List the shipped devices, each with its main number"}, devices},
    Kind{{"systems", "List the shipped systems: GPUs, tiers and shared devices"}, systems},
    Kind{{"topologies", "List the shipped topologies: GPUs, nodes, GPUs of an NVLink domain"},
         topologies},
    Kind{{"calibrations", "List the fits to timings, by their names for `gpu.calibration`"},
         calibrations},
    Kind{{"models", "List the shipped language models"}, models},
    Kind{{"methods", "List the methods of keeping the KV cache"}, methods},
    Kind{{"metrics", "List the metrics of a record, with units and definitions"}, metrics},
    Kind{{"scenarios", "List the shipped scenarios"}, scenarios},
    Kind{{"serving", "List the shipped servers under load"}, serving}};

}  // namespace

std::vector<ListKind> list_kinds() {
  std::vector<ListKind> out;
  for (const Kind& kind : kKinds) out.push_back(kind.kind);
  return out;
}

Listing listing_of(const std::string& what) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) {
    if (what == kind.kind.name) {
      Table table = kind.make();
      std::string json = to_json(table, {}, 2) + '\n';
      return {std::move(table), std::move(json)};
    }
    names.emplace_back(kind.kind.name);
  }
  throw Failure(ExitCode::usage, printable(fmt::format("tiersim: error: there is no list of '{}', "
                                                       "but of {}",
                                                       what, join(names))));
}

}  // namespace tiersim
