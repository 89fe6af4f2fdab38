#pragma once
// A prefix cache: parts of earlier prompts in a pool and in levels below it. An entry is a part of
// one named block of tokens (PrefixEntry), takes some blocks, and is at one level at a time. In the
// pool it is pinned while a sequence uses it. Unpinned entries stay until the pool needs their
// room. They are evicted by least recent use, and within one prompt the last block first, since a
// block is useless without those before it. An entry that leaves a level goes to the next level
// with any capacity, where it may displace the least recently used one; an entry that leaves the
// last level is lost. The cache only counts; its user simulates the bytes of its moves. Every call
// takes time in proportion to the entries named or moved.
//
//   const auto levels = cache.find(prompt);                 // at admission: level of each entry
//   const auto idle = cache.idle(prompt.first(levels.size()));   // in blocks, as all sizes
//   // room for the rest: free blocks and cache.evictable() - idle
//   cache.load(prompt.first(levels.size()));                // pins, and loads from lower levels
//   cache.evict(...);                                       // after load(), which pins these
//   ... copy; cache.arrived(prompt.first(levels.size()));   // others that pin them waited for it
//   ... compute the next n; cache.use(prompt.subspan(levels.size(), n));
//   ... finish or preempt; cache.release(prompt.first(levels.size() + n));
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "workloads/serving/prefix_parts.hpp"

namespace tiersim {

/// Blocks of entries that changed their level.
struct PrefixMoves {
  std::vector<std::int64_t> written = {};  ///< [level]: written to it; [0] stays 0
  std::int64_t freed = 0;                  ///< of entries that left the pool
  std::int64_t gone = 0;                   ///< of entries that left the last level
};

class PrefixCache {
 public:
  /// `capacity`: blocks of each level below the pool, nearest first; may be 0. An entry that is
  /// larger than a level passes it by.
  explicit PrefixCache(const std::vector<std::int64_t>& capacity);

  /// Levels of the leading blocks of the prompt that are cached (0: the pool), up to the first
  /// block that is not. Changes nothing.
  std::vector<std::int64_t> find(std::span<const PrefixEntry> prefix) const;
  /// Level of one entry; none where it is not cached.
  std::optional<std::int64_t> level_of(const PrefixEntry& entry) const;
  /// Blocks of these in the pool and unpinned. They count as evictable, but not for a sequence that
  /// is about to use them.
  std::int64_t idle(std::span<const PrefixEntry> prefix) const;
  /// Number of these in the pool whose load has not arrived.
  std::int64_t loading(std::span<const PrefixEntry> prefix) const;

  /// Begins a sequence's use of these blocks. Entries of lower levels move to the pool (their lower
  /// copies are dropped), missing entries are created, and each is pinned once more. The sequence
  /// must have pinned the blocks of the prompt before them: a prompt can be used piece by piece, in
  /// order. Returns the blocks of entries that the pool gained; of the others, which were in the
  /// pool, the sequence's own copy is redundant. The pool may be over its size until the user has
  /// evicted as many.
  std::int64_t use(std::span<const PrefixEntry> prefix);
  /// Like use(), where copies from lower levels take time: the entries that the pool gains are
  /// loading() until arrived(). Those that are at no level here have a copy elsewhere.
  std::int64_t load(std::span<const PrefixEntry> prefix);
  /// The load of these is complete, for every sequence that pins them.
  void arrived(std::span<const PrefixEntry> prefix);
  /// Ends a sequence's use of these entries, none of which may be loading. They are unpinned and
  /// become the most recently used, the first block last of all to be evicted.
  void release(std::span<const PrefixEntry> prefix);

  /// The entry, if it is unpinned, becomes the most recently used one of its level.
  void touch(const PrefixEntry& entry);

  /// Blocks of unpinned entries in the pool.
  std::int64_t evictable() const { return levels_.front().size; }
  /// Blocks of entries in the pool.
  std::int64_t pooled() const { return evictable() + pinned_; }
  /// Evicts entries from the pool until at least `blocks` <= evictable() have left it.
  PrefixMoves evict(std::int64_t blocks);

  /// Blocks of entries at a level below the pool (1, 2, ...).
  std::int64_t held(std::int64_t level) const;

 private:
  using Index = std::int32_t;  // of entries_; small, since a pool may have a million blocks

  struct Entry {
    PrefixEntry of;
    std::int32_t level = 0;
    std::int32_t pins = 0;
    bool loading = false;
    Index older = kNone;  // in the list of its level; a pinned entry is in no list
    Index newer = kNone;
  };
  struct Level {
    std::int64_t capacity = 0;  // unused for the pool, whose size its user bounds
    std::int64_t size = 0;      // blocks of the entries in the list
    Index oldest = kNone;
    Index newest = kNone;
  };
  static constexpr Index kNone = -1;

  const Entry* lookup(const PrefixEntry& entry) const;
  Index index_of(const PrefixEntry& entry) const;
  Entry& at(Index i) { return entries_[static_cast<std::size_t>(i)]; }
  std::int64_t pin(const PrefixEntry& entry, bool loaded);
  Index make(const PrefixEntry& entry);
  void append(Index i, std::int32_t level);
  void unlink(Index i);
  void sink(Index i, std::int32_t level, PrefixMoves& moves);

  std::vector<Level> levels_;  // [0] is the pool; its list holds the unpinned entries
  std::vector<Entry> entries_;
  std::vector<Index> spare_;  // free places of entries_
  std::unordered_map<PrefixEntry, Index, PrefixEntryHash> index_;
  std::int64_t pinned_ = 0;  // blocks
};

}  // namespace tiersim
