#pragma once
// The scenarios that a SPEC names, each read once for all users: the check of its settings, the
// query for counts, and the plan. Internal to sim/sweep.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/runner/point_loader.hpp"

namespace tiersim {

class ScenarioFiles {
 public:
  /// The overrides in `options` are not used: they belong to the SPEC.
  ScenarioFiles(const Document& spec, const LoadOptions& options);

  /// From here on only the documents in `loader()` are used, and no file is looked up.
  void freeze() { frozen_ = true; }

  /// The file of this name in the SPEC: beside it, or below the shipped configurations.
  std::optional<std::filesystem::path> find(const std::string& name) const;
  bool has(const std::string& name) const;

  /// A point as far as it can be loaded, so that reading it finds its other mistakes. Nothing if
  /// there is no such scenario.
  std::optional<Document> load(const Point& point, Diagnostics& diagnostics);

  /// The loader, in which files have their names of the SPEC.
  PointLoader& loader() { return loader_; }
  /// A loader without documents, which finds names in the same way.
  PointLoader new_loader() const;

 private:
  LoadOptions options_;
  std::vector<std::filesystem::path> folders_;
  PointLoader loader_;
  bool frozen_ = false;
};

}  // namespace tiersim
