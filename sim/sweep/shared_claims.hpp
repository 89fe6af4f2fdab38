#pragma once
// The claims of one slot of a ClaimsFile: those that a lost process left in it, then new ones.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/sweep/claims_file.hpp"

namespace tiersim {

/// The number of points to claim at once. A claim should take about half a second: a shorter one
/// costs turns, and a longer one leaves others without work at the end.
class ClaimSize {
 public:
  explicit ClaimSize(std::size_t threads) : count_(static_cast<std::int64_t>(threads)) {}
  /// `seconds`: time of the claim before. `left`: points that nobody has claimed, which the
  /// processes of so many slots share.
  std::int64_t next(double seconds, std::int64_t left, std::size_t slots);

 private:
  std::int64_t count_;
  bool is_first_ = true;
};

class SharedClaims final : public PointClaims {
 public:
  /// `file` must outlive this, and no other thread may use it meanwhile. The slot is this
  /// process's.
  SharedClaims(ClaimsFile& file, std::size_t slot, std::size_t threads);

  std::optional<PointRange> next() override;
  /// Number of points that others had claimed when this process claimed last.
  std::int64_t of_others() const { return of_others_; }

 private:
  ClaimsFile& file_;
  std::size_t slot_;
  std::vector<PointRange> left_;  // by a lost process, the last one first
  std::int64_t own_ = 0;
  ClaimSize size_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::atomic<std::int64_t> of_others_ = 0;
};

}  // namespace tiersim
