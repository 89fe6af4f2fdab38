#pragma once
// From a file and --set options to a typed configuration, or to every mistake on stderr and exit 3.
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/cli/command.hpp"
#include "sim/cli/files.hpp"
#include "sim/config/describe.hpp"
#include "sim/run/scenario.hpp"
#include "sim/run/serving/serving_config.hpp"

namespace tiersim::cli {

struct ScenarioFile {
  Document document;
  ScenarioConfig config;
};

struct ServingFile {
  Document document;
  ServingConfig config;
};

/// Mistakes of the user's, for whoever wants more of them than their text.
struct BadConfig : Failure {
  explicit BadConfig(std::vector<Diagnostic> all, const std::string& text)
      : Failure(ExitCode::bad_config, text), diagnostics(std::move(all)) {}
  std::vector<Diagnostic> diagnostics;
};

/// Throws BadConfig with every diagnostic and exit code bad_config.
void throw_if_any(const Diagnostics& diagnostics);

/// How every file of a command is loaded: with the shipped configurations and every importer.
LoadOptions standard_options(std::vector<std::string> set = {});

ScenarioFile load_scenario(const std::filesystem::path& path, const std::vector<std::string>& set);
ServingFile load_serving(const std::filesystem::path& path, const std::vector<std::string>& set);

/// What can be run, by the kind that the file says it is of.
std::variant<ScenarioFile, ServingFile> load_runnable(const std::filesystem::path& path,
                                                      const std::vector<std::string>& set);

}  // namespace tiersim::cli
