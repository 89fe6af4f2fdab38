// tiersim config show CONFIG: the effective configuration and the origin of each value.
// tiersim config schema KIND: JSON Schema for editors.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "reports/reproduce/targets.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/loading.hpp"

namespace tiersim::cli {
namespace {

struct Options {
  std::string config;
  std::vector<std::string> set;
  std::string kind = "scenario";
};

ExitCode show(const Options& options) {
  const ScenarioFile file = load_scenario(options.config, options.set);
  fmt::print("{}", show_config(file.document, file.config));
  return ExitCode::ok;
}

ExitCode schema(const std::string& kind) {
  if (kind == "scenario") {
    fmt::print("{}", json_schema<ScenarioConfig>(kind, "tiersim scenario"));
  } else if (kind == "system") {
    fmt::print("{}", json_schema<SystemConfig>(kind, "tiersim system"));
  } else if (kind == "model") {
    fmt::print("{}", json_schema<LlmConfig>(kind, "tiersim model"));
  } else {
    fmt::print("{}", json_schema<Targets>(kind, "tiersim paper targets"));
  }
  return ExitCode::ok;
}

}  // namespace

void add_config(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("config", "Show a configuration or print its schema");
  verb->require_subcommand(1);
  CLI::App* shown =
      verb->add_subcommand("show", "Effective configuration, each value with its origin");
  shown->add_option("CONFIG", options->config, "Scenario file")->required();
  shown->add_option("--set", options->set, "Override a setting: a.b=value (repeatable)")
      ->allow_extra_args(false);
  shown->callback([options, &action] { action = [options] { return show(*options); }; });
  CLI::App* schemas = verb->add_subcommand("schema", "JSON Schema, for editors");
  schemas->add_option("KIND", options->kind, "Kind of file")
      ->check(CLI::IsMember({"scenario", "system", "model", "targets"}))
      ->capture_default_str();
  schemas->callback([options, &action] { action = [options] { return schema(options->kind); }; });
}

}  // namespace tiersim::cli
