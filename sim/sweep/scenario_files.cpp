#include "sim/sweep/scenario_files.hpp"

#include <algorithm>
#include <system_error>

namespace tiersim {
namespace fs = std::filesystem;
namespace {

LoadOptions without_overrides(const LoadOptions& options) {
  return {.config_root = options.config_root, .importers = options.importers};
}

std::vector<fs::path> folders_of(const Document& spec, const LoadOptions& options) {
  std::vector<fs::path> out;
  const Origin& origin = spec.root().origin;
  if (origin.source && !origin.is_override())
    out.push_back(fs::path(origin.source->file).parent_path());
  if (!options.config_root.empty()) out.push_back(options.config_root);
  if (out.empty()) out.emplace_back();
  return out;
}

std::optional<fs::path> find_in(const std::vector<fs::path>& folders, const fs::path& name) {
  if (name.empty()) return std::nullopt;
  for (const fs::path& folder : folders) {
    const fs::path file = (folder / name).lexically_normal();
    std::error_code error;
    if (fs::is_regular_file(file, error)) return file;
  }
  return std::nullopt;
}

PointLoader loader_of(const std::vector<fs::path>& folders, const LoadOptions& options) {
  return PointLoader(
      options, [folders](const fs::path& name) { return find_in(folders, name).value_or(name); });
}

}  // namespace

ScenarioFiles::ScenarioFiles(const Document& spec, const LoadOptions& options)
    : options_(without_overrides(options)),
      folders_(folders_of(spec, options)),
      loader_(loader_of(folders_, options_)) {}

PointLoader ScenarioFiles::new_loader() const {
  return loader_of(folders_, options_);
}

std::optional<fs::path> ScenarioFiles::find(const std::string& name) const {
  return find_in(folders_, name);
}

bool ScenarioFiles::has(const std::string& name) const {
  if (!frozen_) return find(name).has_value();
  return std::ranges::any_of(loader_.documents(),
                             [&](const auto& entry) { return entry.first.scenario == name; });
}

std::optional<Document> ScenarioFiles::load(const Point& point, Diagnostics& diagnostics) {
  if (frozen_) {
    if (!loader_.documents().contains(loader_.files_of(point))) return std::nullopt;
    return loader_.load(point, diagnostics);
  }
  const auto file = find(point.scenario.string());
  if (!file) return std::nullopt;
  Diagnostics reported_below;
  if (loader_.prepare(point, reported_below)) return loader_.load(point, diagnostics);
  LoadOptions options = options_;
  options.overrides = point.set;
  return load_document(*file, options, diagnostics);
}

}  // namespace tiersim
