// tiersim list hw|models|methods|metrics|scenarios: what exists. --json prints an array.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "hwmodels/device_library.hpp"
#include "reports/render/table.hpp"
#include "sim/base/display.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/loading.hpp"
#include "sim/run/metrics.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

Table of(std::vector<std::string> titles) {
  Table table;
  for (std::string& title : titles) table.columns.push_back({std::move(title), Align::left});
  return table;
}

using Json = nlohmann::ordered_json;

/// For people, and the same for programs.
struct Listing {
  Table table;
  Json rows;
};

/// A listing without numbers.
Listing of_text(Table table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object;
    for (std::size_t c = 0; c < row.size(); ++c) object[table.columns[c].title] = row[c];
    rows.push_back(std::move(object));
  }
  return {std::move(table), std::move(rows)};
}

// As a person sees it: names and descriptions of files may hold any text.
Table shown(Table table) {
  for (auto& row : table.rows)
    for (std::string& cell : row) cell = printable(cell);
  return table;
}

template <class Kinds>
void add_kinds(Table& table, const std::string& category, const Kinds& kinds) {
  for (const auto& [kind, entry] : kinds.entries()) table.add({category, kind, entry.help});
}

Listing hardware() {
  const DeviceLibrary library = make_device_library();
  Table table = of({"category", "model", "what"});
  add_kinds(table, "memory", library.memory);
  add_kinds(table, "link", library.link);
  add_kinds(table, "request", library.request);
  add_kinds(table, "compute", library.compute);
  return of_text(std::move(table));
}

Listing methods() {
  Table table = of({"method", "what"});
  const auto library = make_method_library();
  for (const auto& [name, kind] : library.entries()) table.add({name, kind.help});
  return of_text(std::move(table));
}

Listing metrics() {
  Table table = of({"metric", "unit", "definition"});
  for (const MetricDefinition& metric : kMetrics)
    table.add({std::string(metric.name), std::string(metric.unit), std::string(metric.meaning)});
  return of_text(std::move(table));
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

std::string attention_text(const LlmConfig& m) {
  std::string text = std::to_string(m.heads) + " heads";
  if (m.mla)
    text += fmt::format(", latent {}+{}", m.mla->kv_lora_rank, m.mla->qk_rope_head_dim);
  else if (m.kv_heads != m.heads)
    text += fmt::format(", {} KV", m.kv_heads);
  if (m.attention_window) text += fmt::format(", window {}", *m.attention_window);
  if (m.encoder) text += fmt::format(", encoder of {} layers", m.encoder->layers);
  return text;
}

std::string experts_text(const LlmConfig& m) {
  if (!m.moe) return "-";
  const std::string routed = fmt::format("{} of {}", m.moe->experts_per_token, m.moe->experts);
  return m.moe->shared_experts == 0 ? routed
                                    : fmt::format("{}, {} shared", routed, m.moe->shared_experts);
}

Json to_row(const LlmConfig& m, Bytes kv_per_token, const std::string& file) {
  Json row{{"model", m.name},
           {"parameters", m.parameters()},
           {"kv_bytes_per_token_fp16", kv_per_token.in_base()},
           {"layers", m.layers},
           {"hidden", m.hidden},
           {"heads", m.heads},
           {"kv_heads", m.kv_heads},
           {"head_dim", m.head_dim},
           {"file", file}};
  if (m.mla) {
    row["kv_lora_rank"] = m.mla->kv_lora_rank;
    row["qk_rope_head_dim"] = m.mla->qk_rope_head_dim;
  }
  if (m.attention_window) row["attention_window"] = *m.attention_window;
  if (m.encoder) row["encoder_layers"] = m.encoder->layers;
  if (m.moe) {
    row["experts"] = m.moe->experts;
    row["experts_per_token"] = m.moe->experts_per_token;
    row["shared_experts"] = m.moe->shared_experts;
  }
  return row;
}

Listing models() {
  Listing out{
      of({"model", "parameters", "KV per token (fp16)", "layers", "attention", "experts", "file"}),
      Json::array()};
  for (const std::size_t number : {1U, 2U, 3U}) out.table.columns[number].align = Align::right;
  for (const fs::path& path : yaml_files("models")) {
    Diagnostics diagnostics;
    const Document document = load_document(path, standard_options(), diagnostics);
    const auto m = read<LlmConfig>(document, "model", diagnostics);
    throw_if_any(diagnostics);
    const Bytes kv = stored(m.cached_width(), DataType::fp16);
    out.table.add({m.name, fmt::format("{:.3f} B", static_cast<double>(m.parameters()) / 1e9),
                   display(kv), std::to_string(m.layers), attention_text(m), experts_text(m),
                   shown_path(path)});
    out.rows.push_back(to_row(m, kv, shown_path(path)));
  }
  return out;
}

Listing scenarios() {
  Table table = of({"scenario", "file", "description"});
  for (const fs::path& path : yaml_files("scenarios")) {
    const ScenarioFile file = load_scenario(path, {});
    table.add({file.config.name, shown_path(path), file.config.description});
  }
  return of_text(std::move(table));
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  struct Kind {
    const char* name;
    const char* help;
    Listing (*list)();
  };
  CLI::App* verb = app.add_subcommand("list", "List what there is");
  verb->require_subcommand(1);
  for (const Kind& kind :
       {Kind{"hw", "Device models", hardware}, Kind{"models", "LLMs", models},
        Kind{"methods", "KV methods", methods},
        Kind{"metrics", "Metrics of a record, with units and definitions", metrics},
        Kind{"scenarios", "Shipped scenarios", scenarios}}) {
    auto json = std::make_shared<bool>(false);
    CLI::App* what = verb->add_subcommand(kind.name, kind.help);
    what->add_flag("--json", *json, "Print a JSON array");
    what->callback([json, list = kind.list, &action] {
      action = [json, list] {
        const Listing listing = list();
        fmt::print("{}", *json ? listing.rows.dump(2) + '\n' : to_text(shown(listing.table)));
        return ExitCode::ok;
      };
    });
  }
}

}  // namespace tiersim::cli
