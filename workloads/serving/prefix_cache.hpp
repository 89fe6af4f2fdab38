#pragma once
// Blocks of prompts that earlier requests left behind, in a pool and in levels below it. An entry
// is one named block of tokens (PrefixBlocks) and is at one level at a time. In the pool it is
// pinned while a sequence uses it; unpinned entries stay until the pool needs their room, the least
// recently used first and of one prompt the last block first, since a block without those before it
// is of no use. What leaves a level goes to the next one that has any capacity, if need be in place
// of what was used there least recently; what leaves the last one is gone. The cache counts; the
// bytes that its moves cost are its user's to simulate. Every call takes time in proportion to the
// entries named or moved.
//
//   const auto levels = cache.find(prompt);                 // at admission: what is where
//   const auto idle = cache.idle(prompt.first(levels.size()));
//   // room for the rest: free blocks and cache.evictable() - idle
//   cache.load(prompt.first(levels.size()));                // pins; brings up what is below
//   cache.evict(...);                                       // after it, so that none of these go
//   ... copy; cache.arrived(prompt.first(levels.size()));   // others that pin them waited for this
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
  /// `capacity`: entries of each level below the pool, nearest first; may be 0.
  explicit PrefixCache(const std::vector<std::int64_t>& capacity);

  /// Leading blocks of the prompt that are somewhere, by level of each (0: the pool); stops at the
  /// first that is nowhere. Changes nothing.
  std::vector<std::int64_t> find(std::span<const std::uint64_t> prefix) const;
  /// How many of these are in the pool and pinned by nothing: they count as evictable, but are not
  /// for a sequence that is about to use them.
  std::int64_t idle(std::span<const std::uint64_t> prefix) const;
  /// How many of these are in the pool only in name, because their load has not arrived.
  std::int64_t loading(std::span<const std::uint64_t> prefix) const;

  /// A sequence uses these blocks: all that are in lower levels come to the pool (their lower
  /// copies are given up), all that are nowhere begin to exist, and each is pinned once more. The
  /// blocks of a prompt before them must be pinned by the sequence already: a prompt can be used
  /// piece by piece, in order. Returns how many entries the pool gained; the others were there, so
  /// a copy that the sequence made of them is one too many. The pool may be over its size until the
  /// user has evicted as many.
  std::int64_t use(std::span<const std::uint64_t> prefix);
  /// The same, where the copies from lower levels take time: what came up is loading() until
  /// arrived(). All of these must be somewhere.
  std::int64_t load(std::span<const std::uint64_t> prefix);
  /// The load of these is done, for everybody who pins them.
  void arrived(std::span<const std::uint64_t> prefix);
  /// The sequence is done with them, and nothing of them is loading: unpinned, and the newest of
  /// all, the first block newest.
  void release(std::span<const std::uint64_t> prefix);

  /// Entries in the pool that nothing pins.
  std::int64_t evictable() const { return levels_.front().size; }
  /// Entries in the pool.
  std::int64_t pooled() const { return evictable() + pinned_; }
  /// Makes `count` <= evictable() of them leave the pool.
  PrefixMoves evict(std::int64_t count);

  /// Entries at a level below the pool (1, 2, ...).
  std::int64_t held(std::int64_t level) const;

 private:
  using Index = std::int32_t;  // of entries_; small, since a pool may have a million blocks

  struct Entry {
    std::uint64_t name = 0;
    std::int32_t level = 0;
    std::int32_t pins = 0;
    bool loading = false;
    Index older = kNone;  // in the list of its level; a pinned entry is in none
    Index newer = kNone;
  };
  struct Level {
    std::int64_t capacity = 0;  // of the pool: what the user allows
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

  std::vector<Level> levels_;  // [0] is the pool; its list holds what nothing pins
  std::vector<Entry> entries_;
  std::vector<Index> spare_;  // of entries_
  // Only ever asked for one name, so that the order of a hash decides nothing.
  std::unordered_map<std::uint64_t, Index> index_;
  std::int64_t pinned_ = 0;
};

}  // namespace tiersim
