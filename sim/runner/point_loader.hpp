#pragma once
// Documents of points that share files: a scenario or served workload with settings on top. Files
// are read once for all points that name the same ones, also by a setting (`system.base=...`); any
// other setting is laid over the loaded tree, which gives the same document as loading would.
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
  /// Where the file of a scenario's name is.
  using Resolve = std::function<std::filesystem::path(const std::filesystem::path& name)>;

  /// The overrides of `options` lie under the settings of every point. Without `resolve`, names of
  /// scenarios are paths.
  explicit PointLoader(LoadOptions options, Resolve resolve = {});

  /// Whether a setting may name files, so that it must be there when the scenario is loaded.
  bool may_name_files(std::string_view option) const;
  /// What a point has to be read for: its file and those of its settings that may name files.
  Point files_of(const Point& point) const;

  /// Reads the point's files where that was not done before. False where they have mistakes, which
  /// go to `diagnostics` each time.
  bool prepare(const Point& point, Diagnostics& diagnostics);

  /// The point's document. Its files were prepared.
  Document load(const Point& point, Diagnostics& diagnostics) const;

  /// Everything that was read, by files_of().
  const std::map<Point, Document>& documents() const { return documents_; }
  /// Instead of reading these files.
  void adopt(Point files, Document document);

 private:
  LoadOptions options_;
  std::vector<std::string> common_;
  Resolve resolve_;
  std::map<Point, Document> documents_;
};

}  // namespace tiersim
