#pragma once
// Copies of prompt blocks in the tiers below the pool of KV blocks, under write-through: a block is
// copied to the first tier soon after it was computed, and from each tier to the next one, while
// it stays where it was. So an eviction copies nothing, as in vLLM's offloading connector, LMCache
// and SGLang's HiCache. Each tier evicts by least recent use, and within one prompt the last block
// first. The copies of one tier are written one after another, and each takes all blocks that wait
// for that tier. The class only counts; its user simulates the bytes.
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

#include "workloads/serving/request.hpp"

namespace tiersim {

class PrefixCopies {
 public:
  /// Blocks on their way from one level to the next. Level 0 is the pool.
  struct Store {
    std::int64_t from = 0;
    std::int64_t to = 0;
    PrefixBlocks blocks = {};
  };

  /// `capacity`: number of blocks of each level below the pool, nearest first; a level of 0 is left
  /// out.
  explicit PrefixCopies(const std::vector<std::int64_t>& capacity);

  /// The nearest level that holds the block; 0: none does.
  std::int64_t level_of(std::uint64_t block) const;
  /// A prompt uses these: they become the most recently used of each level that has them, the first
  /// block last of all to be evicted.
  void touch(std::span<const std::uint64_t> blocks);
  /// These are in the pool. Returns those that the nearest level has not and that are not on their
  /// way; they wait to be stored.
  PrefixBlocks want(std::span<const std::uint64_t> blocks);
  /// All blocks that wait for this level; none where no block does.
  std::optional<Store> next(std::int64_t level);
  /// The copy has ended. Its blocks go on to the next level, where that has not got them.
  void stored(const Store& store);

  /// Number of blocks at a level below the pool (1, 2, ...).
  std::int64_t held(std::int64_t level) const;
  std::int64_t levels() const { return static_cast<std::int64_t>(levels_.size()); }

 private:
  struct Level {
    std::int64_t capacity = 0;
    std::list<std::uint64_t> recency = {};  // the least recently used first
    // Used for lookup only, so that the order of a hash has no effect.
    std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> places = {};
    PrefixBlocks waiting = {};
    std::unordered_set<std::uint64_t> coming = {};  // waiting, or on their way

    bool lacks(std::uint64_t block) const {
      return !places.contains(block) && !coming.contains(block);
    }
  };

  Level& at(std::int64_t level) { return levels_[static_cast<std::size_t>(level) - 1]; }
  const Level& at(std::int64_t level) const { return levels_[static_cast<std::size_t>(level) - 1]; }
  /// The next level with any capacity; 0: none.
  std::int64_t below(std::int64_t level) const;
  PrefixBlocks queue(std::int64_t level, std::span<const std::uint64_t> blocks);

  std::vector<Level> levels_;
};

}  // namespace tiersim
