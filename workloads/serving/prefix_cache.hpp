#pragma once
// A prefix cache: blocks of earlier prompts in a pool and in levels below it. An entry is one named
// block of tokens (PrefixBlocks) and is at one level at a time. In the pool it is pinned while a
// sequence uses it. Unpinned entries stay until the pool needs their room. They are evicted by
// least recent use, and within one prompt the last block first, since a block is useless without
// those before it. An entry that leaves a level goes to the next level with any capacity, where it
// may displace the least recently used one; an entry that leaves the last level is lost. The cache
// only counts; its user simulates the bytes of its moves. Every call takes time in proportion to
// the entries named or moved.
//
//   const auto levels = cache.find(prompt);                 // at admission: level of each entry
//   const auto idle = cache.idle(prompt.first(levels.size()));
//   // room for the rest: free blocks and cache.evictable() - idle
//   cache.load(prompt.first(levels.size()));                // pins, and loads from lower levels
//   cache.evict(...);                                       // after load(), which pins these
//   ... copy; cache.arrived(prompt.first(levels.size()));   // others that pin them waited for it
//   ... compute the next n; cache.use(prompt.subspan(levels.size(), n));
//   ... finish or preempt; cache.release(prompt.first(levels.size() + n));
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "workloads/serving/request.hpp"

namespace tiersim {

/// Entries that changed their level.
struct PrefixMoves {
  std::vector<std::int64_t> written = {};  ///< [level]: entries written to it; [0] stays 0
  std::int64_t freed = 0;                  ///< entries that left the pool
  std::int64_t gone = 0;                   ///< entries that left the last level
};

class PrefixCache {
 public:
  /// `capacity`: number of entries of each level below the pool, nearest first; may be 0.
  explicit PrefixCache(const std::vector<std::int64_t>& capacity);

  /// Levels of the leading blocks of the prompt that are cached (0: the pool), up to the first
  /// block that is not. Changes nothing.
  std::vector<std::int64_t> find(std::span<const std::uint64_t> prefix) const;
  /// Number of these in the pool and unpinned. They count as evictable, but not for a sequence that
  /// is about to use them.
  std::int64_t idle(std::span<const std::uint64_t> prefix) const;
  /// Number of these in the pool whose load has not arrived.
  std::int64_t loading(std::span<const std::uint64_t> prefix) const;

  /// Begins a sequence's use of these blocks. Entries of lower levels move to the pool (their lower
  /// copies are dropped), missing entries are created, and each is pinned once more. The sequence
  /// must have pinned the blocks of the prompt before them: a prompt can be used piece by piece, in
  /// order. Returns the number of entries that the pool gained; of the others, which were in the
  /// pool, the sequence's own copy is redundant. The pool may be over its size until the user has
  /// evicted as many.
  std::int64_t use(std::span<const std::uint64_t> prefix);
  /// Like use(), where copies from lower levels take time: the entries that the pool gains are
  /// loading() until arrived(). Those that are at no level here have a copy elsewhere.
  std::int64_t load(std::span<const std::uint64_t> prefix);
  /// The load of these is complete, for every sequence that pins them.
  void arrived(std::span<const std::uint64_t> prefix);
  /// Ends a sequence's use of these entries, none of which may be loading. They are unpinned and
  /// become the most recently used, the first block last of all to be evicted.
  void release(std::span<const std::uint64_t> prefix);

  /// Number of unpinned entries in the pool.
  std::int64_t evictable() const { return levels_.front().size; }
  /// Number of entries in the pool.
  std::int64_t pooled() const { return evictable() + pinned_; }
  /// Evicts `count` <= evictable() entries from the pool.
  PrefixMoves evict(std::int64_t count);

  /// Number of entries at a level below the pool (1, 2, ...).
  std::int64_t held(std::int64_t level) const;

 private:
  using Index = std::int32_t;  // of entries_; small, since a pool may have a million blocks

  struct Entry {
    std::uint64_t name = 0;
    std::int32_t level = 0;
    std::int32_t pins = 0;
    bool loading = false;
    Index older = kNone;  // in the list of its level; a pinned entry is in no list
    Index newer = kNone;
  };
  struct Level {
    std::int64_t capacity = 0;  // unused for the pool, whose size its user bounds
    std::int64_t size = 0;      // entries in the list
    Index oldest = kNone;
    Index newest = kNone;
  };
  static constexpr Index kNone = -1;

  const Entry* lookup(std::uint64_t name) const;
  Entry& at(Index i) { return entries_[static_cast<std::size_t>(i)]; }
  std::int64_t pin(std::uint64_t name, bool loaded);
  Index make(std::uint64_t name);
  void append(Index i, std::int32_t level);
  void unlink(Index i);
  void sink(Index i, std::int32_t level, PrefixMoves& moves);

  std::vector<Level> levels_;  // [0] is the pool; its list holds the unpinned entries
  std::vector<Entry> entries_;
  std::vector<Index> spare_;  // free places of entries_
  // Used for lookup only, so that the order of a hash has no effect.
  std::unordered_map<std::uint64_t, Index> index_;
  std::int64_t pinned_ = 0;
};

}  // namespace tiersim
