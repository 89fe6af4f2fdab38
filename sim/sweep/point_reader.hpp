#pragma once
// Reads one point of a sweep after the other. Most points differ from those before them by some
// numbers: then only these are read, checked across the whole configuration, and hashed.
//
//   PointReader reader(loader);                 // one a thread
//   for (const SpacePoint& point : points) use(reader.read(point.scenario, point.set));
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/runner/point_loader.hpp"
#include "sim/sweep/evaluate.hpp"

namespace tiersim {

class PointReader {
 public:
  /// The loader stays as it is while points are read, but for files that it reads.
  explicit PointReader(const PointLoader& loader);
  PointReader(const PointReader&) = delete;
  PointReader& operator=(const PointReader&) = delete;
  ~PointReader();

  /// What read_point() gives. Its files were prepared. Lives until the next call.
  const ReadPoint& read(const std::string& scenario, const std::vector<std::string>& set);

 private:
  struct Family;
  Family* family_of(const std::string& scenario, const std::vector<std::string>& set);
  const ReadPoint& read_whole(const std::string& scenario, const std::vector<std::string>& set);

  const PointLoader& loader_;
  std::vector<std::unique_ptr<Family>> families_;  // the one that was last used first
  ReadPoint other_;                                // a point with mistakes
};

/// Whether YAML takes the text for a scalar as it stands: a number, or one with its unit.
bool is_number_text(std::string_view text);

}  // namespace tiersim
