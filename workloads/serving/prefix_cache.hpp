#pragma once
// Blocks of prompts that earlier requests left behind, in a pool and in tiers below it. An entry is
// one named block of tokens (PrefixBlocks). In the pool it takes so many pool blocks and is pinned
// while a sequence uses it; unpinned entries stay until the pool needs their room, the least
// recently used first and of one prompt the last block first. What leaves a level goes to the one
// below, if that has room after dropping its own least recently used; what leaves the last one is
// gone. The cache counts; the bytes that its moves cost are its user's to simulate.
#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

#include "workloads/serving/request.hpp"

namespace tiersim {

/// Entries that changed their level; what was written where.
struct PrefixMoves {
  std::vector<std::int64_t> written = {};  ///< [level]: entries written to it; [0] stays 0
  std::int64_t freed = 0;                  ///< entries that left the pool
};

class PrefixCache {
 public:
  /// `capacity`: entries of each level below the pool, nearest first.
  explicit PrefixCache(std::vector<std::int64_t> capacity);

  /// Leading blocks of the prompt that are somewhere, by level of each (0: the pool); stops at the
  /// first that is nowhere. Changes nothing.
  std::vector<std::int64_t> find(std::span<const std::uint64_t> prefix) const;

  /// A sequence uses these leading blocks: all that are in lower levels come to the pool (their
  /// lower copies are given up), all that are nowhere begin to exist, and each is pinned once more.
  /// Returns how many entries the pool gained; the user has freed room for them before.
  std::int64_t use(std::span<const std::uint64_t> prefix);
  /// The sequence is done with them: unpinned, and the newest of all, the first block newest.
  void release(std::span<const std::uint64_t> prefix);

  /// Entries in the pool that nothing pins.
  std::int64_t evictable() const;
  /// Entries in the pool.
  std::int64_t pooled() const;
  /// Makes `count` <= evictable() of them leave the pool.
  PrefixMoves evict(std::int64_t count);

  /// Entries at a level below the pool (1, 2, ...).
  std::int64_t held(std::int64_t level) const;
};

}  // namespace tiersim
