// tiersim run CONFIG: one simulation, a summary for people, --json for programs, --trace for
// Perfetto.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "reports/summary/run_summary.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/loading.hpp"
#include "sim/run/simulate.hpp"
#include "sim/run/trace.hpp"

namespace tiersim::cli {
namespace {

struct Options {
  std::string config;
  std::vector<std::string> set;
  std::string output;
  std::string trace;
  bool json = false;
};

ExitCode run(const Options& options) {
  for (const std::string& file : {options.trace, options.output}) expect_writable(file);
  const ScenarioFile file = load_scenario(options.config, options.set);
  const auto result = simulate(file.config, Readings::all);
  if (!result) {
    Diagnostics diagnostics;
    diagnostics.report({file.document.locate("step.batch"), result.error(),
                        "a smaller batch or context, another placement or a larger tier"});
    throw_if_any(diagnostics);
  }
  if (!options.trace.empty()) write_file(options.trace, to_perfetto_json({&*result, 1}));
  if (!options.output.empty()) write_file(options.output, to_json(result->record));
  // A file on stdout is all that a reader of it expects there.
  if (options.output == "-" || options.trace == "-") return ExitCode::ok;
  fmt::print("{}", options.json ? to_json(result->record) : summary_text(result->record));
  return ExitCode::ok;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("run", "Simulate one scenario");
  verb->add_option("CONFIG", options->config, "Scenario file (schema tiersim.scenario/v1)")
      ->required();
  verb->add_option("--set", options->set, "Override a setting: a.b=value (repeatable)")
      ->allow_extra_args(false)
      ->type_name(kSettingType);
  verb->add_option("-o,--output", options->output, "Also write the record to this file")
      ->type_name("FILE");
  verb->add_option("--trace", options->trace, "Write a timeline that Perfetto loads")
      ->type_name("FILE");
  verb->add_flag("--json", options->json, "Print the record instead of the summary");
  verb->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tiersim::cli
