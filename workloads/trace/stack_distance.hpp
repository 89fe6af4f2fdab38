#pragma once
// The hit rate of an LRU cache of every size, from one pass over the lookups (Mattson et al.,
// Evaluation techniques for storage hierarchies, IBM Systems Journal 9(2), 1970). A row is found by
// the caches that hold at least as many rows as its stack distance: the number of distinct rows
// used since its last use, itself included. A lookup takes O(log n), and the memory grows with the
// number of distinct rows, not with that of lookups.
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tiersim {

/// Lookups come in batches: all rows of a batch are looked up in the state that earlier batches
/// left, then all of them become the newest, the last of the batch on top.
class StackDistances {
 public:
  /// Distance of each row of the batch, from 1; 0 for a row that was never used before. A batch has
  /// no row twice. Valid until the next call.
  std::span<const std::int64_t> look_up(std::span<const std::int64_t> batch);

  /// Number of distinct rows so far.
  std::int64_t rows() const { return static_cast<std::int64_t>(last_use_.size()); }

 private:
  void make_room(std::size_t batch);
  void mark(std::int64_t time, std::int64_t change);
  std::int64_t marked_up_to(std::int64_t time) const;

  std::vector<std::int64_t> tree_{0};  // Fenwick tree over times: 1 at the last use of each row
  std::unordered_map<std::int64_t, std::int64_t> last_use_;
  std::int64_t now_ = 0;
  std::vector<std::int64_t> distances_;
};

}  // namespace tiersim
