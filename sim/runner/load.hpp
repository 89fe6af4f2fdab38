#pragma once
// Loads a file with --set options into a typed configuration, or throws all of its mistakes.
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/describe.hpp"
#include "sim/runner/failure.hpp"
#include "sim/runner/files.hpp"
#include "sim/runner/runnable.hpp"

namespace tiersim {

/// A configuration with the document it was read from, which has the place of every key.
template <class Config>
struct ConfigFile {
  Document document;
  Config config;
};
using ScenarioFile = ConfigFile<ScenarioConfig>;
using ServingFile = ConfigFile<ServingConfig>;
using RunnableFile = ConfigFile<Runnable>;

/// The user's mistakes, for callers that need more than their text.
struct BadConfig : Failure {
  explicit BadConfig(std::vector<Diagnostic> all, const std::string& text)
      : Failure(ExitCode::bad_config, text), diagnostics(std::move(all)) {}
  std::vector<Diagnostic> diagnostics;
};

/// Throws BadConfig with every diagnostic and exit code bad_config.
void throw_if_any(const Diagnostics& diagnostics);

/// Options for every file of a command: the shipped configurations and every importer.
LoadOptions standard_options(std::vector<std::string> set = {});

ScenarioFile load_scenario(const std::filesystem::path& path, const std::vector<std::string>& set);
ServingFile load_serving(const std::filesystem::path& path, const std::vector<std::string>& set);
/// The same for one of several files that share base files.
ScenarioFile load_scenario(const std::filesystem::path& path, const std::vector<std::string>& set,
                           std::shared_ptr<BaseFiles> bases);
ServingFile load_serving(const std::filesystem::path& path, const std::vector<std::string>& set,
                         std::shared_ptr<BaseFiles> bases);

/// Loads a scenario or a server under load, according to the kind that the file states.
RunnableFile load_runnable(const std::filesystem::path& path, const std::vector<std::string>& set);

}  // namespace tiersim
