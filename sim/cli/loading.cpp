#include "sim/cli/loading.hpp"

#include <utility>

#include "sim/run/importers.hpp"

namespace tiersim::cli {

void throw_if_any(const Diagnostics& diagnostics) {
  if (diagnostics.ok()) return;
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.list())
    text += (text.empty() ? "" : "\n") + diagnostic.text();
  throw Failure(ExitCode::bad_config, text);
}

LoadOptions standard_options(std::vector<std::string> set) {
  return {
      .overrides = std::move(set), .config_root = config_root(), .importers = make_all_importers()};
}

ScenarioFile load_scenario(const std::filesystem::path& path, const std::vector<std::string>& set) {
  Diagnostics diagnostics;
  Document document = load_document(path, standard_options(set), diagnostics);
  auto config = read<ScenarioConfig>(document, "scenario", diagnostics);
  throw_if_any(diagnostics);
  return {std::move(document), std::move(config)};
}

}  // namespace tiersim::cli
