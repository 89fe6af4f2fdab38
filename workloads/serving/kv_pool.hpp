#pragma once
// The KV blocks of one replica: those of sequences, and those of prompts that others may share.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "workloads/serving/prefix_cache.hpp"
#include "workloads/serving/prefix_copies.hpp"
#include "workloads/serving/server_config.hpp"

namespace tiersim {

/// Reason for a move of blocks between tiers.
enum class MoveKind : std::uint8_t {
  swap_out,
  swap_in,
  prefix_load,
  prefix_store,
  handover,
  state_load,   ///< a copy of a state into the blocks of a sequence, within the pool
  state_store,  ///< a copy of a sequence's state that is kept, within the pool
};
inline constexpr std::array<std::string_view, 7> kMoveKindNames{
    "swap_out", "swap_in", "prefix_load", "prefix_store", "handover", "state_load", "state_store"};

/// A move of blocks between levels. Level 0 is the pool; for prefixes, 1, 2, ... are the tiers
/// below it.
struct BlockMove {
  MoveKind kind = MoveKind::swap_out;
  std::int64_t blocks = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// The prefixes in the pool that a sequence pins: these named blocks, for the layers that keep
/// every position, and these stretches of other layers. States are copied instead.
struct PrefixPins {
  std::span<const std::uint64_t> names;
  std::span<const WindowPart> window = {};

  PrefixPins(std::span<const std::uint64_t> of_names, std::span<const WindowPart> of_window = {})
      : names(of_names), window(of_window) {}
  /// Where all layers keep every position.
  PrefixPins(const PrefixBlocks& of_names) : names(of_names) {}
};

class KvPool {
 public:
  /// With a prefix cache: what is kept of a named block, the blocks that each level below the pool
  /// holds, and when they are written there.
  struct Prefixes {
    PrefixParts parts;
    std::vector<std::int64_t> levels = {};
    WritePolicy write_policy = WritePolicy::write_through;
  };
  KvPool(std::int64_t blocks, const std::optional<Prefixes>& prefixes);

  std::int64_t blocks() const { return blocks_; }
  /// Blocks held by sequences, pinned prefixes included.
  std::int64_t used() const { return own_ + pinned(); }
  /// Blocks held by sequences and by prefixes, pinned or idle.
  std::int64_t occupied() const { return own_ + (cache_ ? cache_->pooled() : 0); }
  /// Blocks of prefixes at a level below the pool (1, 2, ...).
  std::int64_t below(std::int64_t level) const {
    if (copies_) return copies_->held(level);
    return cache_ ? cache_->held(level) : 0;
  }
  /// Blocks that are free, or become free by evicting idle prefixes.
  std::int64_t available() const { return blocks_ - used(); }

  /// Takes blocks for a sequence, evicts idle prefixes as needed, and appends the resulting moves.
  /// False, without any change, where too few are available.
  bool take(std::int64_t blocks, std::vector<BlockMove>& moves);
  void give(std::int64_t blocks);

  /// The most leading named blocks of a prompt for which each layer has, at any level, what the
  /// next position needs.
  struct Found {
    std::int64_t entries = 0;  ///< named blocks
    std::int64_t matched = 0;  ///< the same for the layers that keep every position alone, if any
    std::int64_t below = 0;    ///< blocks that come from lower levels into the pool
    std::int64_t idle = 0;     ///< blocks in the pool that nobody pins yet
  };
  Found find(std::span<const std::uint64_t> names) const;
  /// The nearest level that has the entry; none: no level has.
  std::optional<std::int64_t> level_of(const PrefixEntry& entry) const;
  /// The stretches that a sequence pins when it finds these named blocks.
  WindowParts window(std::span<const std::uint64_t> names) const { return parts().needed(names); }
  /// Pins what find() found and begins to load that of lower levels, by the appended moves; returns
  /// what is loaded. The state is copied to the blocks of the sequence, from where it is. The
  /// caller has checked the room: the blocks below and the idle ones are no longer available.
  PrefixEntries pin(const PrefixPins& prefix, std::vector<BlockMove>& moves);
  bool is_loading(const PrefixPins& prefix) const;
  void arrived(std::span<const PrefixEntry> loads);
  /// Turns blocks of a sequence into entries that others can share, pinned by the sequence.
  void share(const PrefixPins& prefix);
  void release(const PrefixPins& prefix);
  /// Blocks of the pool that these pin.
  std::int64_t blocks_of(const PrefixPins& prefix) const;
  /// Keeps copies of these that no sequence pins, where they fit in `room` blocks of those that are
  /// available; the first one is the first to be evicted. Returns the number of entries that are
  /// new to the pool.
  std::int64_t keep(std::span<const PrefixEntry> entries, std::int64_t room,
                    std::vector<BlockMove>& moves);

  /// The entries that wait to be written through to a level below the pool (1, 2, ...), if any, and
  /// the end of writing them. Until then those of the pool count as used.
  std::optional<PrefixCopies::Store> next_store(std::int64_t level);
  void stored(const PrefixCopies::Store& store);
  /// Blocks of the pool that wait to be written through, or are being written.
  std::int64_t storing() const { return storing_; }

  bool has_prefixes() const { return cache_.has_value(); }
  /// With a prefix cache only.
  const PrefixParts& parts() const { return *parts_; }
  /// True where a sequence pins stretches of windows or chunks.
  bool has_windows() const { return parts_ && parts_->has_windows(); }

 private:
  std::int64_t pinned() const { return cache_ ? cache_->pooled() - cache_->evictable() : 0; }
  PrefixEntries entries_of(const PrefixPins& prefix) const;
  std::int64_t reachable(std::span<const std::uint64_t> names) const;
  void make_room(std::vector<BlockMove>& moves);
  void write_through(std::span<const PrefixEntry> entries);

  std::int64_t blocks_;
  std::int64_t own_ = 0;
  std::optional<PrefixParts> parts_;
  std::int64_t storing_ = 0;            // blocks
  std::optional<PrefixCache> cache_;    // its levels are the pool alone where there are copies
  std::optional<PrefixCopies> copies_;  // under write-through
};

}  // namespace tiersim
