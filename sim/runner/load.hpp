#pragma once
// From a file and --set options to a typed configuration, or to every mistake on stderr and exit 3.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/describe.hpp"
#include "sim/runner/failure.hpp"
#include "sim/runner/files.hpp"
#include "sim/runner/runnable.hpp"

namespace tiersim {

/// A configuration with the document that it was read from, which knows the place of every key.
template <class Config>
struct ConfigFile {
  Document document;
  Config config;
};
using ScenarioFile = ConfigFile<ScenarioConfig>;
using ServingFile = ConfigFile<ServingConfig>;
using RunnableFile = ConfigFile<Runnable>;

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

/// A scenario or a server under load, by the kind that the file says it is of.
RunnableFile load_runnable(const std::filesystem::path& path, const std::vector<std::string>& set);

}  // namespace tiersim
