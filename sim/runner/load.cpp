#include "sim/runner/load.hpp"

#include <utility>

#include "sim/runner/shipped_file.hpp"
#include "sim/step/importers.hpp"

namespace tiersim {

void throw_if_any(const Diagnostics& diagnostics) {
  if (diagnostics.ok()) return;
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.list())
    text += (text.empty() ? "" : "\n") + diagnostic.text();
  throw BadConfig(diagnostics.list(), text);
}

LoadOptions standard_options(std::vector<std::string> set) {
  return {
      .overrides = std::move(set), .config_root = config_root(), .importers = make_all_importers()};
}

namespace {

LoadOptions sharing(std::vector<std::string> set, std::shared_ptr<BaseFiles> bases) {
  LoadOptions options = standard_options(std::move(set));
  options.bases = std::move(bases);
  return options;
}

template <class File>
File read_file_of(Document document, const char* kind, Diagnostics& diagnostics) {
  auto config = read<decltype(File::config)>(document, kind, diagnostics);
  throw_if_any(diagnostics);
  return {std::move(document), std::move(config)};
}

}  // namespace

ScenarioFile load_scenario(const std::filesystem::path& path, const std::vector<std::string>& set) {
  return load_scenario(path, set, nullptr);
}

ScenarioFile load_scenario(const std::filesystem::path& path, const std::vector<std::string>& set,
                           std::shared_ptr<BaseFiles> bases) {
  Diagnostics diagnostics;
  Document document =
      load_document(shipped_file(path), sharing(set, std::move(bases)), diagnostics);
  return read_file_of<ScenarioFile>(std::move(document), "scenario", diagnostics);
}

ServingFile load_serving(const std::filesystem::path& path, const std::vector<std::string>& set) {
  return load_serving(path, set, nullptr);
}

ServingFile load_serving(const std::filesystem::path& path, const std::vector<std::string>& set,
                         std::shared_ptr<BaseFiles> bases) {
  Diagnostics diagnostics;
  Document document =
      load_document(shipped_file(path), sharing(set, std::move(bases)), diagnostics);
  return read_file_of<ServingFile>(std::move(document), "serving", diagnostics);
}

RunnableFile load_runnable(const std::filesystem::path& path, const std::vector<std::string>& set) {
  Diagnostics diagnostics;
  Document document = load_document(shipped_file(path), standard_options(set), diagnostics);
  Runnable config = read_runnable(document, diagnostics);
  throw_if_any(diagnostics);
  return {std::move(document), std::move(config)};
}

}  // namespace tiersim
