#pragma once
// Copies of parts of prompts (PrefixEntry) in the tiers below the pool of KV blocks, under
// write-through: a block is copied to the first tier soon after it was computed, and from each tier
// to the next one, while it stays where it was. So an eviction copies nothing, as in vLLM's
// offloading connector, LMCache and SGLang's HiCache. Each tier has an eviction policy
// (workloads/eviction). In one store the last block comes first. The copies of one tier
// are written one after another, and each takes all blocks that wait for that tier. Only what is
// raised from a lower tier may be written to it meanwhile. The class only counts; its user
// simulates the bytes.
//
// An exclusive tier gets no copies of what the tier above it has, but what leaves that one, and
// gives up what is loaded from it, as a victim cache does (Jouppi, ISCA 1990). The room above is
// free at once, as if a buffer held what is on its way down. A tier whose queue of stores is full
// gets nothing more until it is shorter.
//
// A tier may have longer blocks than the one above it (workloads/serving/tier_blocks.hpp). A
// longer block is copied to its tier once the tier above holds all of its parts. It is forgotten if
// that tier evicts a part first.
//
// A shared tier is one store for several pools: each loads what any of them has stored. Two pools
// that store the same block at the same time both write it, as they would without a lock.
//
//   const auto held = copies.want(computed, prompt);  // the pool keeps these until they are stored
//   while (const auto store = copies.next(1)) { ... copy; copies.stored(*store); }
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "workloads/eviction/block_cache.hpp"
#include "workloads/serving/prefix_parts.hpp"
#include "workloads/serving/tier_blocks.hpp"

namespace tiersim {

/// An empty store with the capacity, the eviction policy and the lifetime of the level; null where
/// the level has no capacity.
std::shared_ptr<BlockCache> make_store(const PrefixLevel& level);

class PrefixCopies {
 public:
  /// Entries on their way from one level to the next. Level 0 is the pool.
  struct Store {
    std::int64_t from = 0;
    std::int64_t to = 0;
    PrefixEntries entries = {};
  };

  /// The levels below the pool, nearest first; one of 0 blocks is left out, and any other holds the
  /// largest entry. If one is exclusive, the blocks of all levels must have the same size.
  explicit PrefixCopies(const std::vector<PrefixLevel>& levels);

  // An entry may be a part of a longer block of a level. The functions below then look for that
  // block in the level.

  /// The nearest level that holds the entry and is not passed over; 0: none does.
  std::int64_t level_of(const PrefixEntry& entry, std::span<const char> passed = {}) const;
  /// The time is `now`, which never falls: entries leave a level whose lifetime has ended there.
  void advance(SimTime now);
  bool holds(const PrefixEntry& entry, std::int64_t level) const;
  /// A prompt uses these, at each level that has them.
  void touch(std::span<const PrefixEntry> entries);
  /// A prompt's use of these has ended: in the same order as touch(), without counting a use. So of
  /// a prompt that was stored in pieces the last block is the first to be evicted under LRU.
  void settle(std::span<const PrefixEntry> entries);
  /// The pool holds these blocks, whose size is that of the nearest level. Returns those that this
  /// level does not hold and that are not on their way to it; they now wait to be stored. `prompt`
  /// is the whole prompt, from which longer blocks of further levels are put together; without it
  /// none are.
  PrefixEntries want(std::span<const PrefixEntry> entries,
                     LeadingNames prompt = std::span<const std::uint64_t>{});
  /// True for an entry of the pool that waits to be stored, or is being stored.
  bool is_coming(const PrefixEntry& entry) const {
    const std::int64_t first = below(0);
    return first > 0 && at(first).coming.contains(entry) && !raised_.contains(entry);
  }
  /// These have been loaded into the pool, or were computed there: exclusive levels give up what
  /// the level above has or is being written.
  void give_up(std::span<const PrefixEntry> entries);
  /// No more blocks than these wait for the level or are being written to it.
  void limit_queue(std::int64_t level, std::int64_t blocks) { at(level).most_coming = blocks; }
  /// Begins to copy these to the nearest level from those below it that are not passed over, the
  /// first ones first, as far as that level and its queue have room beside those of these that it
  /// has; an entry that no level has ends it. Returns the copies, one for each level that some come
  /// from.
  std::vector<Store> raise(std::span<const PrefixEntry> entries, std::span<const char> passed = {},
                           LeadingNames prompt = std::span<const std::uint64_t>{});
  /// All entries that wait for this level; none where no entry does.
  std::optional<Store> next(std::int64_t level);
  /// The copy has ended. Its entries go on to the next level, where that has not got them.
  void stored(const Store& store);

  /// Blocks of the entries at a level below the pool (1, 2, ...).
  std::int64_t held(std::int64_t level) const;
  std::int64_t levels() const { return static_cast<std::int64_t>(levels_.size()); }
  const TierBlocks& blocks() const { return blocks_; }
  /// The size (TierBlocks::size_of) of the blocks of the nearest level that has any capacity; 0
  /// without such a level.
  std::size_t nearest_size() const;

 private:
  // A longer block, some of whose parts are still on their way to the level above.
  struct Incomplete {
    PrefixEntry block;
    PrefixEntries members;
  };
  struct Level {
    std::shared_ptr<BlockCache> cache = {};  // null: without capacity
    std::size_t size = 0;                    // of its blocks
    std::vector<Incomplete> incomplete = {};
    PrefixEntries waiting = {};
    std::unordered_set<PrefixEntry, PrefixEntryHash> coming = {};  // waiting, or on their way
    std::int64_t coming_blocks = 0;
    std::optional<std::int64_t> most_coming = {};
    bool exclusive = false;
    // Those of the cache by key, where the next level gets what leaves it; for lookup only.
    std::unordered_map<std::uint64_t, PrefixEntry> names = {};

    bool lacks(const PrefixEntry& entry) const {
      return !cache->contains(entry.key()) && !coming.contains(entry);
    }
  };

  Level& at(std::int64_t level) { return levels_[static_cast<std::size_t>(level) - 1]; }
  const Level& at(std::int64_t level) const { return levels_[static_cast<std::size_t>(level) - 1]; }
  /// The next level with any capacity; 0: none.
  std::int64_t below(std::int64_t level) const;
  /// The nearest level above with any capacity; 0: none below the pool.
  std::int64_t above(std::int64_t level) const;
  template <class Use>
  void for_each_held(const Level& level, std::span<const PrefixEntry> entries, Use use) const;
  bool will_have(std::int64_t level, const PrefixEntry& block) const;
  void await(std::span<const PrefixEntry> coming, LeadingNames prompt);
  void copy_complete(std::int64_t above);
  PrefixEntries queue(std::int64_t level, std::span<const PrefixEntry> entries);
  void give_up_below(const Store& store);
  bool feeds_exclusive(std::int64_t level) const;
  void hand_down(std::int64_t level, std::span<const std::uint64_t> left);

  TierBlocks blocks_;
  std::vector<Level> levels_;
  // Those on their way from a lower level to the nearest one.
  std::unordered_set<PrefixEntry, PrefixEntryHash> raised_;
};

}  // namespace tiersim
