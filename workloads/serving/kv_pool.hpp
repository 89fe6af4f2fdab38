#pragma once
// The KV blocks of one replica: those of sequences, and those of prompts that others may share.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "workloads/serving/prefix_cache.hpp"
#include "workloads/serving/prefix_copies.hpp"
#include "workloads/serving/server_config.hpp"

namespace tiersim {

/// Reason for a move of blocks between tiers.
enum class MoveKind : std::uint8_t { swap_out, swap_in, prefix_load, prefix_store, handover };
inline constexpr std::array<std::string_view, 5> kMoveKindNames{
    "swap_out", "swap_in", "prefix_load", "prefix_store", "handover"};

/// A move of blocks between levels. Level 0 is the pool; for prefixes, 1, 2, ... are the tiers
/// below it.
struct BlockMove {
  MoveKind kind = MoveKind::swap_out;
  std::int64_t blocks = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

class KvPool {
 public:
  /// With a prefix cache: the blocks of one of its entries, the number of entries that each level
  /// below the pool holds, and when entries are written there.
  struct Prefixes {
    std::int64_t entry_blocks = 1;
    std::vector<std::int64_t> levels = {};
    WritePolicy write_policy = WritePolicy::write_through;
  };
  KvPool(std::int64_t blocks, const std::optional<Prefixes>& prefixes);

  std::int64_t blocks() const { return blocks_; }
  /// Blocks held by sequences, pinned prefixes included.
  std::int64_t used() const { return own_ + pinned() * entry_blocks_; }
  /// Blocks held by sequences and by prefixes, pinned or idle.
  std::int64_t occupied() const { return own_ + (cache_ ? cache_->pooled() : 0) * entry_blocks_; }
  /// Blocks of prefixes at a level below the pool (1, 2, ...).
  std::int64_t below(std::int64_t level) const {
    if (copies_) return copies_->held(level) * entry_blocks_;
    return cache_ ? cache_->held(level) * entry_blocks_ : 0;
  }
  /// Blocks that are free, or become free by evicting idle prefixes.
  std::int64_t available() const { return blocks_ - used(); }

  /// Takes blocks for a sequence, evicts idle prefixes as needed, and appends the resulting moves.
  /// False, without any change, where too few are available.
  bool take(std::int64_t blocks, std::vector<BlockMove>& moves);
  void give(std::int64_t blocks);

  /// Leading entries of a prompt that are at any level.
  struct Found {
    std::int64_t entries = 0;
    std::int64_t below = 0;  ///< number of them in lower levels
    std::int64_t idle = 0;   ///< number of them in the pool and unpinned
  };
  Found find(std::span<const std::uint64_t> prefix) const;
  /// Pins the entries of find() and begins to load those of lower levels, by the appended moves;
  /// returns these. The caller has checked the room: the `below` entries and the idle ones are no
  /// longer available.
  PrefixBlocks pin(std::span<const std::uint64_t> prefix, std::vector<BlockMove>& moves);
  bool is_loading(std::span<const std::uint64_t> prefix) const;
  void arrived(std::span<const std::uint64_t> prefix);
  /// Turns blocks of a sequence into entries that others can share.
  void share(std::span<const std::uint64_t> prefix);
  void release(std::span<const std::uint64_t> prefix);

  /// The blocks that wait to be written through to a level below the pool (1, 2, ...), if any, and
  /// the end of writing them. Until then those of the pool count as used.
  std::optional<PrefixCopies::Store> next_store(std::int64_t level);
  void stored(const PrefixCopies::Store& store);
  /// Blocks of the pool that wait to be written through, or are being written.
  std::int64_t storing() const { return storing_ * entry_blocks_; }

  std::int64_t entry_blocks() const { return entry_blocks_; }
  bool has_prefixes() const { return cache_.has_value(); }

 private:
  std::int64_t pinned() const { return cache_ ? cache_->pooled() - cache_->evictable() : 0; }
  /// The nearest level of each leading block that is at any level.
  std::vector<std::int64_t> levels_of(std::span<const std::uint64_t> prefix) const;
  void make_room(std::vector<BlockMove>& moves);
  void write_through(std::span<const std::uint64_t> prefix);

  std::int64_t blocks_;
  std::int64_t own_ = 0;
  std::int64_t entry_blocks_ = 1;
  std::int64_t storing_ = 0;            // entries
  std::optional<PrefixCache> cache_;    // its levels are the pool alone where there are copies
  std::optional<PrefixCopies> copies_;  // under write-through
};

}  // namespace tiersim
