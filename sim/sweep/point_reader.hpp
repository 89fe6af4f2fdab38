#pragma once
// Reads the points of a sweep one after another. Most points differ from earlier ones only in some
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
  /// While points are read, the loader changes only by reading further files.
  explicit PointReader(const PointLoader& loader);
  PointReader(const PointReader&) = delete;
  PointReader& operator=(const PointReader&) = delete;
  ~PointReader();

  /// The result of read_point() for a point with prepared files. Valid until the next call.
  const ReadPoint& read(const std::string& scenario, const std::vector<std::string>& set);

 private:
  struct Family;
  Family* family_of(const std::string& scenario, const std::vector<std::string>& set);
  const ReadPoint& read_whole(const std::string& scenario, const std::vector<std::string>& set);

  const PointLoader& loader_;
  StepRoom room_ = std::make_shared<std::vector<Op>>();
  std::vector<std::unique_ptr<Family>> families_;  // the most recently used first
  ReadPoint other_;                                // a point with mistakes
};

/// True where YAML reads the text unquoted as a scalar: a number, possibly with a unit.
bool is_number_text(std::string_view text);
/// The scalar at a dotted path of a tree; null if there is none.
Node* scalar_at(Node& root, std::string_view path);

}  // namespace tiersim
