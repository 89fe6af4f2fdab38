#include "sim/runner/point_loader.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/config/overlay.hpp"
#include "sim/config/overrides.hpp"

namespace tiersim {

PointLoader::PointLoader(LoadOptions options, Resolve resolve)
    : options_(std::move(options)), resolve_(std::move(resolve)) {
  common_ = std::exchange(options_.overrides, {});
  if (!options_.bases) options_.bases = std::make_shared<BaseFiles>();
}

bool PointLoader::may_name_files(std::string_view option) const {
  const std::size_t equals = option.find('=');
  if (equals == std::string_view::npos) return true;  // a mistake, which the loader reports
  if (option.find_first_of("{[&*", equals) != std::string_view::npos) return true;
  // Any part of the path counts: `gpu.calibration.0` is an element of a list of names.
  std::string_view path = option.substr(0, equals);
  for (;;) {
    const std::size_t dot = path.find('.');
    const std::string_view key = path.substr(0, dot);
    if (key == "base" ||
        std::ranges::find(options_.importers, key, &Importer::key) != options_.importers.end())
      return true;
    if (dot == std::string_view::npos) return false;
    path.remove_prefix(dot + 1);
  }
}

Point PointLoader::files_of(const Point& point) const {
  Point files{point.scenario};
  for (const auto* set : {&common_, &point.set})
    for (const std::string& option : *set)
      if (may_name_files(option)) files.set.push_back(option);
  return files;
}

bool PointLoader::prepare(const Point& point, Diagnostics& diagnostics) {
  Point files = files_of(point);
  if (documents_.contains(files)) return true;
  LoadOptions options = options_;
  options.overrides = files.set;
  Diagnostics own;
  Document document =
      load_document(resolve_ ? resolve_(point.scenario) : point.scenario, options, own);
  for (Diagnostic& diagnostic : own.list()) diagnostics.report(std::move(diagnostic));
  if (!own.ok()) return false;
  documents_.emplace(std::move(files), std::move(document));
  return true;
}

Document PointLoader::load(const Point& point, Diagnostics& diagnostics) const {
  const auto it = documents_.find(files_of(point));
  TS_EXPECTS(it != documents_.end(), point.scenario.string());
  std::vector<std::string> settings;
  for (const auto* set : {&common_, &point.set})
    for (const std::string& option : *set)
      if (!may_name_files(option)) settings.push_back(option);
  return Document(overlay_bases(
      it->second.root(), parse_overrides(settings, options_.importers, diagnostics), diagnostics));
}

void PointLoader::adopt(Point files, Document document) {
  documents_.insert_or_assign(std::move(files), std::move(document));
}

}  // namespace tiersim
