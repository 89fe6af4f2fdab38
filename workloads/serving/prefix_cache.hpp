#pragma once
// A prefix cache: parts of earlier prompts in a pool and in levels below it. An entry is a part of
// one named block of tokens (PrefixEntry), takes some blocks, and is at one level at a time. In the
// pool it is pinned while a sequence uses it. Unpinned entries stay until the pool needs their
// room. What leaves then is up to the eviction policy of each level (workloads/eviction). Of one
// prompt the last block leaves first, since a block is useless without those before it. An entry
// that leaves a level goes to the next level with any capacity, where it may displace others; an
// entry that leaves the last level is lost. The cache only counts; its user simulates the bytes of
// its moves.
//
//   const auto levels = cache.find(prompt);                 // at admission: level of each entry
//   const auto idle = cache.idle(prompt.first(levels.size()));   // in blocks, as all sizes
//   // room for the rest: free blocks and cache.evictable() - idle
//   cache.load(prompt.first(levels.size()));                // pins, and loads from lower levels
//   cache.evict(...);                                       // after load(), which pins these
//   ... copy; cache.arrived(prompt.first(levels.size()));   // others that pin them waited for it
//   ... compute the next n; cache.use(prompt.subspan(levels.size(), n));
//   ... finish or preempt; cache.release(prompt.first(levels.size() + n));
//
// A level may have a lifetime: an entry that no sequence uses leaves it so long after its last use,
// as if it were evicted, once expire() is told the time.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "workloads/eviction/block_index.hpp"
#include "workloads/eviction/last_uses.hpp"
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
  /// `below`: the levels below the pool, nearest first; of 0 blocks or more. An entry that is
  /// larger than a level passes it by. The pool is as large as its user lets it be; its policy
  /// reckons with these blocks.
  explicit PrefixCache(const std::vector<PrefixLevel>& below, const PrefixLevel& pool = {1});

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
  /// The same for a use that is only expected: it does not count, and no sequence has pinned what
  /// is before these.
  void fetch(std::span<const PrefixEntry> prefix);
  /// Pins entries of the pool for a copy, which is no use of them.
  void hold(std::span<const PrefixEntry> entries);
  /// The load of these is complete, for every sequence that pins them.
  void arrived(std::span<const PrefixEntry> prefix);
  /// Ends a sequence's use of these entries, none of which may be loading. Those that nobody else
  /// pins may be evicted, the first block last of all.
  void release(std::span<const PrefixEntry> prefix);

  /// The entry, if it is unpinned, is used once more at its level.
  void touch(const PrefixEntry& entry);

  /// How many hold the entry in the pool; 0 where it is not cached.
  std::int64_t pins(const PrefixEntry& entry) const;
  /// Number of prompts that have used the entry since it came; 0 where it is not cached.
  std::int64_t uses(const PrefixEntry& entry) const;

  /// Blocks of unpinned entries in the pool.
  std::int64_t evictable() const { return levels_.front().size; }
  /// Blocks of entries in the pool.
  std::int64_t pooled() const { return evictable() + pinned_; }
  /// Evicts entries from the pool until at least `blocks` <= evictable() have left it.
  PrefixMoves evict(std::int64_t blocks);

  /// The time is `now`, which never falls. Entries whose lifetime at the level has ended leave it
  /// for the levels below.
  PrefixMoves expire(std::int64_t level, SimTime now);
  /// Those of these in the pool that nobody pins leave it for the levels below.
  PrefixMoves leave(std::span<const PrefixEntry> entries);

  /// Levels, the pool included.
  std::int64_t levels() const { return static_cast<std::int64_t>(levels_.size()); }
  /// Blocks of entries at a level below the pool (1, 2, ...).
  std::int64_t held(std::int64_t level) const;

 private:
  struct Entry {
    PrefixEntry of;
    std::int32_t level = 0;
    std::int32_t pins = 0;
    std::int64_t uses = 0;  // by prompts
    bool is_known = false;  // to the policy of its level; in the pool once it was first released
    std::int64_t hits = 0;  // until then
    bool loading = false;
  };
  struct Level {
    std::int64_t capacity = 0;  // unused for the pool, whose size its user bounds
    std::int64_t size = 0;      // blocks of the entries that may be evicted
    std::unique_ptr<EvictionPolicy> policy;
    std::optional<LastUses> last_uses = {};  // of entries that may be evicted; none: no lifetime
  };

  const Entry* lookup(const PrefixEntry& entry) const;
  Place place_of(const PrefixEntry& entry) const;
  Entry& at(Place place) { return entries_[static_cast<std::size_t>(place)]; }
  Level& level_of(const Entry& entry) { return levels_[static_cast<std::size_t>(entry.level)]; }
  std::int64_t pin(const PrefixEntry& entry, bool loaded);
  Place make(const PrefixEntry& entry);
  void sink(Place place, std::int32_t level, PrefixMoves& moves);
  bool evict_from(std::int32_t level, const Visit* incoming, PrefixMoves& moves);
  PrefixMoves no_moves() const { return {.written = std::vector<std::int64_t>(levels_.size(), 0)}; }
  void renew(Place place) {
    Level& level = level_of(at(place));
    if (level.last_uses) level.last_uses->renew(place, now_);
  }
  void cease(Place place) {
    Level& level = level_of(at(place));
    if (level.last_uses) level.last_uses->leave(place);
  }
  void drop_idle(Place place, PrefixMoves& moves);

  std::vector<Level> levels_;  // [0] is the pool, whose pinned entries its policy holds
  std::vector<Entry> entries_;
  std::vector<Place> spare_;  // of entries_
  BlockIndex index_;
  std::int64_t pinned_ = 0;  // blocks
  SimTime now_{};            // of lifetimes
};

}  // namespace tiersim
