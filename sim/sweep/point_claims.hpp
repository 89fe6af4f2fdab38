#pragma once
// Where the points of a sweep are shared by several processes: the part that this one runs.
#include <cstdint>
#include <optional>

namespace tiersim {

/// Positions from `first` up to, but without, `end`.
struct PointRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
  bool operator==(const PointRange&) const = default;
};

class PointClaims {
 public:
  virtual ~PointClaims() = default;
  /// The positions to run next, which lie behind all earlier ones; nothing if none are left.
  virtual std::optional<PointRange> next() = 0;
};

}  // namespace tiersim
