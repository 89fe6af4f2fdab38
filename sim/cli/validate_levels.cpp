#include "sim/cli/validate_levels.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "reports/hardware/fidelity_map_text.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/progress.hpp"
#include "sim/runner/load.hpp"
#include "sim/validate/fidelity_map.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

struct ValidateLevelsArguments {
  std::string hardware;
  std::vector<std::string> only;
  std::string folder;
  bool json = false;
};

FidelityMapConfig load_hardware(const fs::path& file) {
  Diagnostics diagnostics;
  const Document document = load_document(file, standard_options(), diagnostics);
  auto config = read<FidelityMapConfig>(document, "fidelity_map", diagnostics);
  throw_if_any(diagnostics);
  return config;
}

// Keeps a workload by its name, or all workloads of a group.
void keep_only(std::vector<LevelWorkload>& workloads, const std::vector<std::string>& only) {
  std::vector<std::string> names;
  for (const LevelWorkload& workload : workloads)
    for (const std::string& name : {workload.facts.group, workload.facts.id})
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  for (const std::string& name : only)
    if (std::ranges::find(names, name) == names.end())
      throw Failure(ExitCode::usage,
                    fmt::format("tiersim: error: --only '{}': there is no such workload or group "
                                "(there are: {})",
                                printable(name), join(names)));
  std::erase_if(workloads, [&](const LevelWorkload& workload) {
    return std::ranges::find(only, workload.facts.id) == only.end() &&
           std::ranges::find(only, workload.facts.group) == only.end();
  });
}

LevelRow answered(const LevelWorkload& workload, std::string why) {
  LevelRow row{.facts = workload.facts, .why = std::move(why)};
  for (const Fidelity level : kFidelities) {
    const auto i = static_cast<std::size_t>(level);
    const auto start = std::chrono::steady_clock::now();
    row.answers[i] = workload.answer(level);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    row.wall_ms[i] = took.count();
  }
  return row;
}

std::vector<LevelRow> answers_of(const FidelityMapConfig& config,
                                 const std::vector<LevelWorkload>& workloads) {
  ProgressLine progress("workloads");
  std::vector<LevelRow> rows;
  for (const LevelWorkload& workload : workloads) {
    progress.update(std::ssize(rows), 0, std::ssize(workloads), workload.facts.id);
    rows.push_back(answered(workload, printable(reason_of(config, workload.facts.id))));
  }
  return rows;
}

void write_files(const FidelityMap& map, const fs::path& folder) {
  for (const auto& [name, text] : {std::pair{"levels.md", to_markdown(map)},
                                   {"levels.json", to_json(map)},
                                   {"levels.csv", to_csv(level_data(map))}}) {
    write_file(folder / name, text);
    fmt::print(stderr, "tiersim: wrote {}\n", (folder / name).string());
  }
}

ExitCode validate_levels(const ValidateLevelsArguments& options) {
  const FidelityMapConfig config =
      load_hardware(options.hardware.empty() ? targets_root() / "levels" / "h100_node.yaml"
                                             : fs::path(options.hardware));
  std::vector<LevelWorkload> workloads = workloads_of(config);
  if (!options.only.empty()) keep_only(workloads, options.only);
  const FidelityMap map{.title = printable(config.title), .rows = answers_of(config, workloads)};
  fmt::print("{}", options.json ? to_json(map) : to_text(map));
  if (!options.folder.empty()) write_files(map, options.folder);
  const std::int64_t wrong = disagreeing(map);
  if (wrong == 0) return ExitCode::ok;
  fmt::print(stderr, "tiersim: flow and packets differ in {} workloads where they must not\n",
             wrong);
  return ExitCode::target_missed;
}

}  // namespace

void add_validate_levels(Verb validate) {
  auto options = std::make_shared<ValidateLevelsArguments>();
  Verb verb =
      validate.add("levels", "Compare the three levels of fidelity on one set of workloads");
  verb.footer(
      "Errors are relative to the packet level. The exit status is 5 if the flow level differs\n"
      "from it by more than 2 % in a workload with one bottleneck, 64 packets or more and no\n"
      "limit of credits or tags. All other differences are only shown. Only the run times depend\n"
      "on this machine.");
  verb.option("--hardware", options->hardware,
              "File of devices (schema tiersim.fidelity_map/v1); an H100 node by default");
  verb.option("--only", options->only, "Run only this workload or group of workloads (repeatable)");
  verb.option("-o,--out", options->folder,
              "Write levels.md, levels.json and levels.csv into this folder");
  verb.flag("--json", options->json, "Print JSON instead of tables");
  verb.on_chosen([options] { return validate_levels(*options); });
}

}  // namespace tiersim::cli
