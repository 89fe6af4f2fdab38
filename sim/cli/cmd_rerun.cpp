// tiersim rerun RECORD: the same configuration again; the results must be the same bytes.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/cli/command.hpp"
#include "sim/cli/loading.hpp"
#include "sim/run/simulate.hpp"

namespace tiersim::cli {
namespace {

ExitCode rerun(const std::string& path) {
  const std::string old_record = read_file(path);
  const auto config = config_of_record(old_record);
  const auto old_results = results_of_record(old_record);
  for (const auto* part : {&config, &old_results})
    if (!*part)
      throw Failure(ExitCode::bad_config, fmt::format("{}:1:1: error: {}", path, part->error()));
  Diagnostics diagnostics;
  const Document document = load_text(*config, path, standard_options(), diagnostics);
  const auto scenario = read<ScenarioConfig>(document, "scenario", diagnostics);
  throw_if_any(diagnostics);
  const auto result = simulate(scenario, Readings::all);
  if (!result)
    throw Failure(ExitCode::bad_config, fmt::format("{}:1:1: error: {}", path, result.error()));
  const std::string record = to_json(result->record);
  if (*results_of_record(record) == *old_results) {
    fmt::print("same results: {}\n", result->record.run_id);
    return ExitCode::ok;
  }
  fmt::print(stderr, "tiersim: the results differ from the record's (`tiersim --version`: {})\n",
             result->record.tiersim_version);
  fmt::print("{}", record);
  return ExitCode::target_missed;
}

}  // namespace

void add_rerun(CLI::App& app, Action& action) {
  auto path = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("rerun", "Run a record again and compare its results");
  verb->add_option("RECORD", *path, "Record as written by `run --json` or `run -o`")->required();
  verb->callback([path, &action] { action = [path] { return rerun(*path); }; });
}

}  // namespace tiersim::cli
