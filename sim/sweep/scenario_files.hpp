#pragma once
// The scenarios that a SPEC names, each read once for all that look into it: the check of its
// settings, the question which of them are counts, and the plan. Internal to sim/sweep.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/runner/point_loader.hpp"

namespace tiersim {

class ScenarioFiles {
 public:
  /// Of `options` the overrides are not used: they are the SPEC's own.
  ScenarioFiles(const Document& spec, const LoadOptions& options);

  /// From here on there is nothing but what `loader()` has, and no file is looked for.
  void freeze() { frozen_ = true; }

  /// The file that the SPEC calls so: beside it, or below the shipped configurations.
  std::optional<std::filesystem::path> find(const std::string& name) const;
  bool has(const std::string& name) const;

  /// A point as far as it can be loaded, so that reading it finds its other mistakes. Nothing where
  /// there is no such scenario.
  std::optional<Document> load(const Point& point, Diagnostics& diagnostics);

  /// By the names that the SPEC has for them.
  PointLoader& loader() { return loader_; }
  /// Where nothing was loaded yet; names are found as here.
  PointLoader new_loader() const;

 private:
  LoadOptions options_;
  std::vector<std::filesystem::path> folders_;
  PointLoader loader_;
  bool frozen_ = false;
};

}  // namespace tiersim
