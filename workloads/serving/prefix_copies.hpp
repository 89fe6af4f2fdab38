#pragma once
// Copies of parts of prompts (PrefixEntry) in the tiers below the pool of KV blocks, under
// write-through: a block is copied to the first tier soon after it was computed, and from each tier
// to the next one, while it stays where it was. So an eviction copies nothing, as in vLLM's
// offloading connector, LMCache and SGLang's HiCache. Each tier evicts by least recent use, and
// within one prompt the last block first. The copies of one tier are written one after another, and
// each takes all blocks that wait for that tier. The class only counts; its user simulates the
// bytes.
//
//   const auto held = copies.want(computed);   // the pool keeps these until they are stored
//   while (const auto store = copies.next(1)) { ... copy; copies.stored(*store); }
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "workloads/serving/prefix_parts.hpp"

namespace tiersim {

class PrefixCopies {
 public:
  /// Entries on their way from one level to the next. Level 0 is the pool.
  struct Store {
    std::int64_t from = 0;
    std::int64_t to = 0;
    PrefixEntries entries = {};
  };

  /// `capacity`: blocks of each level below the pool, nearest first; a level of 0 is left out, and
  /// any other holds the largest entry.
  explicit PrefixCopies(const std::vector<std::int64_t>& capacity);

  /// The nearest level that holds the entry; 0: none does.
  std::int64_t level_of(const PrefixEntry& entry) const;
  /// A prompt uses these: they become the most recently used of each level that has them, the first
  /// block last of all to be evicted.
  void touch(std::span<const PrefixEntry> entries);
  /// These are in the pool. Returns those that the nearest level has not and that are not on their
  /// way; they wait to be stored.
  PrefixEntries want(std::span<const PrefixEntry> entries);
  /// All entries that wait for this level; none where no entry does.
  std::optional<Store> next(std::int64_t level);
  /// The copy has ended. Its entries go on to the next level, where that has not got them.
  void stored(const Store& store);

  /// Blocks of the entries at a level below the pool (1, 2, ...).
  std::int64_t held(std::int64_t level) const;
  std::int64_t levels() const { return static_cast<std::int64_t>(levels_.size()); }

 private:
  struct Level {
    std::int64_t capacity = 0;            // blocks
    std::int64_t size = 0;                // blocks
    std::list<PrefixEntry> recency = {};  // the least recently used first
    std::unordered_map<PrefixEntry, std::list<PrefixEntry>::iterator, PrefixEntryHash> places = {};
    PrefixEntries waiting = {};
    std::unordered_set<PrefixEntry, PrefixEntryHash> coming = {};  // waiting, or on their way

    bool lacks(const PrefixEntry& entry) const {
      return !places.contains(entry) && !coming.contains(entry);
    }
  };

  Level& at(std::int64_t level) { return levels_[static_cast<std::size_t>(level) - 1]; }
  const Level& at(std::int64_t level) const { return levels_[static_cast<std::size_t>(level) - 1]; }
  /// The next level with any capacity; 0: none.
  std::int64_t below(std::int64_t level) const;
  PrefixEntries queue(std::int64_t level, std::span<const PrefixEntry> entries);

  std::vector<Level> levels_;
};

}  // namespace tiersim
