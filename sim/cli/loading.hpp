#pragma once
// From a file and --set options to a typed configuration, or to every mistake on stderr and exit 3.
#include <filesystem>
#include <string>
#include <vector>

#include "sim/cli/command.hpp"
#include "sim/cli/files.hpp"
#include "sim/config/describe.hpp"
#include "sim/run/scenario.hpp"

namespace tiersim::cli {

struct ScenarioFile {
  Document document;
  ScenarioConfig config;
};

/// Throws Failure with every diagnostic and exit code bad_config.
void throw_if_any(const Diagnostics& diagnostics);

/// How every file of a command is loaded: with the shipped configurations and every importer.
LoadOptions standard_options(std::vector<std::string> set = {});

ScenarioFile load_scenario(const std::filesystem::path& path, const std::vector<std::string>& set);

}  // namespace tiersim::cli
