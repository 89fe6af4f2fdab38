#pragma once
// Documents of points that share files: a scenario or served workload with settings on top. Files
// are read once for all points that name the same ones, including those named by a setting
// (`system.base=...`). Other settings are laid over the loaded tree, which gives the same document
// as loading would.
//
//   PointLoader loader(options);
//   for (const Point& point : points) loader.prepare(point, diagnostics);   // reads files
//   const Document document = loader.load(points[7], diagnostics);          // reads none
//
// load() of prepared points may be called by several threads at once.
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/document.hpp"

namespace tiersim {

struct Point {
  std::filesystem::path scenario;
  std::vector<std::string> set = {};  ///< as --set takes them

  auto operator<=>(const Point&) const = default;
};

class PointLoader {
 public:
  /// Finds the file of a scenario's name.
  using Resolve = std::function<std::filesystem::path(const std::filesystem::path& name)>;

  /// The overrides of `options` lie under the settings of every point. Without `resolve`, names of
  /// scenarios are paths.
  explicit PointLoader(LoadOptions options, Resolve resolve = {});

  /// True where a setting may name files, so that it must be present when the scenario is loaded.
  bool may_name_files(std::string_view option) const;
  /// The inputs of reading a point: its file and its settings that may name files.
  Point files_of(const Point& point) const;

  /// Reads the point's files, unless they have been read. Returns false if they have mistakes,
  /// which go to `diagnostics` each time.
  bool prepare(const Point& point, Diagnostics& diagnostics);

  /// The point's document. Its files must be prepared.
  Document load(const Point& point, Diagnostics& diagnostics) const;

  /// All documents read so far, by files_of().
  const std::map<Point, Document>& documents() const { return documents_; }
  /// Uses `document` instead of reading these files.
  void adopt(Point files, Document document);

 private:
  LoadOptions options_;
  std::vector<std::string> common_;
  Resolve resolve_;
  std::map<Point, Document> documents_;
};

}  // namespace tiersim
