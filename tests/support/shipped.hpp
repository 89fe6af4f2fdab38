#pragma once
// The shipped configurations, for tests that hold over every one of them.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "sim/step/importers.hpp"
#include "sim/step/scenario.hpp"

namespace tiersim::testing {

inline std::filesystem::path configs() {
  return std::filesystem::path(TIERSIM_SOURCE_DIR) / "configs";
}

/// Every YAML file below a folder of configs/, relative to configs/, sorted.
inline std::vector<std::string> shipped(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(configs() / folder))
    if (entry.path().extension() == ".yaml")
      out.push_back(entry.path().lexically_relative(configs()).generic_string());
  std::ranges::sort(out);
  return out;
}

inline std::vector<std::string> shipped_scenarios() {
  return shipped("scenarios");
}

/// A scenario by its path below configs/, with settings on top; errors go to diagnostics.
inline ScenarioConfig try_scenario(const std::string& path, const std::vector<std::string>& set,
                                   Diagnostics& diagnostics) {
  static const auto bases = std::make_shared<BaseFiles>();
  const Document document = load_document(configs() / path,
                                          {.overrides = set,
                                           .config_root = configs(),
                                           .importers = make_all_importers(),
                                           .bases = bases},
                                          diagnostics);
  return read<ScenarioConfig>(document, "scenario", diagnostics);
}

/// The same, where an error fails the test.
inline ScenarioConfig scenario(const std::string& path, const std::vector<std::string>& set = {}) {
  Diagnostics diagnostics;
  auto config = try_scenario(path, set, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.list()) ADD_FAILURE() << diagnostic.text();
  return config;
}

/// True where a scenario is refused because its method's settings do not suit another model or
/// step, as happens to combinations that nobody wrote.
inline bool is_a_mismatch(const std::string& text) {
  for (const char* expected : {"a batch of 1 has no two micro-batches",
                               "to prefetch",
                               "placement.weights: is not modelled beside step.overlap",
                               "placement.weights: model",
                               "placement.weights: which of the drafter's",
                               "gives a rank of",
                               "exceeds the",
                               "where no query is guessed",
                               "on rows in the near tier",
                               "has rows of its own",
                               "exceeds its layers",
                               "its indexer chooses",
                               "reads chosen latents",
                               "has an indexer",
                               "has no indexer",
                               "error: speculation",
                               "error: step.weight_types",
                               "caches rows of several positions",
                               "has no compressed rows",
                               "whose transfer is not modelled",
                               "and the model caches latents",
                               "and the model makes latents"})
    if (text.find(expected) != std::string::npos) return true;
  return false;
}

/// "scenarios/maple/llama2_7b_maple.yaml" as a test name.
inline std::string test_name(const std::string& path) {
  std::string out = std::filesystem::path(path).stem().string();
  std::ranges::replace_if(
      out, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return out;
}

}  // namespace tiersim::testing
