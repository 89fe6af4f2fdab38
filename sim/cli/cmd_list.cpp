// tiersim list hw|models|methods|metrics|scenarios: what exists. --json prints an array.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "hwmodels/device_library.hpp"
#include "reports/render/table.hpp"
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

template <class Kinds>
void add_kinds(Table& table, const std::string& category, const Kinds& kinds) {
  for (const auto& [kind, entry] : kinds.entries()) table.add({category, kind, entry.help});
}

Table hardware() {
  const DeviceLibrary library = make_device_library();
  Table table = of({"category", "model", "what"});
  add_kinds(table, "memory", library.memory);
  add_kinds(table, "link", library.link);
  add_kinds(table, "request", library.request);
  add_kinds(table, "compute", library.compute);
  return table;
}

Table methods() {
  Table table = of({"method", "what"});
  const auto library = make_method_library();
  for (const auto& [name, kind] : library.entries()) table.add({name, kind.help});
  return table;
}

Table metrics() {
  Table table = of({"metric", "unit", "definition"});
  for (const MetricDefinition& metric : kMetrics)
    table.add({std::string(metric.name), std::string(metric.unit), std::string(metric.meaning)});
  return table;
}

std::vector<fs::path> yaml_files(const char* folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(config_root() / folder))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string shown_path(const fs::path& path) {
  return path.lexically_relative(config_root()).generic_string();
}

Table models() {
  Table table = of({"model", "parameters", "layers", "heads", "KV heads", "head_dim", "file"});
  for (const fs::path& path : yaml_files("models")) {
    Diagnostics diagnostics;
    const Document document = load_document(path, standard_options(), diagnostics);
    const auto model = read<LlmConfig>(document, "model", diagnostics);
    throw_if_any(diagnostics);
    table.add({model.name, fmt::format("{:.3f} B", static_cast<double>(model.parameters()) / 1e9),
               std::to_string(model.layers), std::to_string(model.heads),
               std::to_string(model.kv_heads), std::to_string(model.head_dim), shown_path(path)});
  }
  return table;
}

Table scenarios() {
  Table table = of({"scenario", "file", "description"});
  for (const fs::path& path : yaml_files("scenarios")) {
    const ScenarioFile file = load_scenario(path, {});
    table.add({file.config.name, shown_path(path), file.config.description});
  }
  return table;
}

std::string to_json_array(const Table& table) {
  auto out = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object;
    for (std::size_t c = 0; c < row.size(); ++c) object[table.columns[c].title] = row[c];
    out.push_back(std::move(object));
  }
  return out.dump(2) + '\n';
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  struct Kind {
    const char* name;
    const char* help;
    Table (*table)();
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
    what->callback([json, table = kind.table, &action] {
      action = [json, table] {
        fmt::print("{}", *json ? to_json_array(table()) : to_text(table()));
        return ExitCode::ok;
      };
    });
  }
}

}  // namespace tiersim::cli
