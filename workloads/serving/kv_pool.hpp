#pragma once
// The KV blocks of one replica: those of sequences, and those of prompts that others may share.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "workloads/serving/paused_sessions.hpp"
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
  prefetch,     ///< a load of a prefix that no sequence uses yet
};
inline constexpr std::array<std::string_view, 8> kMoveKindNames{
    "swap_out", "swap_in",    "prefix_load", "prefix_store",
    "handover", "state_load", "state_store", "prefetch"};

/// True for moves between the pool and the tiers that keep prefixes, or between these.
constexpr bool is_of_prefixes(MoveKind kind) {
  return kind == MoveKind::prefix_load || kind == MoveKind::prefix_store ||
         kind == MoveKind::prefetch;
}

/// A move of blocks between levels. Level 0 is the pool; for prefixes, 1, 2, ... are the tiers
/// below it.
struct BlockMove {
  MoveKind kind = MoveKind::swap_out;
  std::int64_t blocks = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// The prefixes in the pool that a sequence pins: the leading named blocks from `before` on, for
/// the layers that keep every position, and these stretches of other layers. States are copied
/// instead.
struct PrefixPins {
  LeadingNames leading;
  std::span<const WindowPart> window = {};
  std::int64_t before = 0;  ///< named blocks of the prompt before the first one

  PrefixPins(LeadingNames of, std::span<const WindowPart> of_window = {},
             std::int64_t blocks_before = 0)
      : leading(of), window(of_window), before(blocks_before) {}
  /// Where all layers keep every position.
  PrefixPins(const PrefixBlocks& of_names) : leading(of_names) {}
  /// Pins stretches of window layers and no leading blocks.
  explicit PrefixPins(std::span<const WindowPart> of_window)
      : leading(std::span<const std::uint64_t>{}), window(of_window) {}
  std::span<const std::uint64_t> names() const {
    return leading.names.subspan(static_cast<std::size_t>(before));
  }
};

class KvPool {
 public:
  /// With a prefix cache: what is kept of a named block, the levels below the pool, when they are
  /// written, and what leaves the pool first.
  struct Prefixes {
    PrefixParts parts;
    /// If one has longer blocks than named ones, every layer must keep every position, and the
    /// policy must not be write-back.
    std::vector<PrefixLevel> levels = {};
    Eviction eviction = Eviction::lru;
    WritePolicy write_policy = WritePolicy::write_through;
    /// How much longer a named block takes to compute for each one before it, of the time of the
    /// first one.
    double cost_growth = 0;
    bool keep_in_pool = true;  ///< what no sequence uses; under write-through it may be false
    std::optional<Duration> ttl = {};        ///< of what no sequence uses, in the pool
    std::optional<PauseLimits> pauses = {};  ///< none: pause() keeps nothing
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
  Found find(LeadingNames names) const;
  /// Loads pass over these levels from now on, [level] not 0, as if they had nothing: their queues
  /// are too long.
  void pass_over(std::vector<char> levels) { passed_ = std::move(levels); }
  /// The named blocks that find() would find if no level were passed over.
  std::int64_t found_anywhere(LeadingNames names);
  bool passes_over() const {
    return std::ranges::any_of(passed_, [](char passed) { return passed != 0; });
  }
  /// No more blocks than these wait to be written through to the level.
  void limit_stores(std::int64_t level, std::int64_t blocks) {
    if (copies_) copies_->limit_queue(level, blocks);
  }
  /// What lower levels have of these names, all of which were found.
  struct Load {
    std::int64_t pooled = 0;              ///< leading names that the pool has
    std::vector<std::int64_t> from = {};  ///< blocks, by level; [0] is 0
  };
  Load load_of(LeadingNames names) const;
  /// Where these names lie, all of which were found; where no layer keeps every position, all count
  /// where the state or the windows lie.
  FoundIn found_in(LeadingNames names) const;
  /// True where the level has the entry, alone or with others.
  bool holds(const PrefixEntry& entry, std::int64_t level) const;
  /// The nearest level that has the entry; none: no level has.
  std::optional<std::int64_t> level_of(const PrefixEntry& entry) const;
  /// The stretches that a sequence pins when it finds these named blocks.
  WindowParts window(LeadingNames names) const { return parts().needed(names.names); }
  /// Pins what find() found and begins to load that of lower levels, by the appended moves; returns
  /// what is loaded. The state is copied to the blocks of the sequence, from where it is. The
  /// caller has checked the room: the blocks below and the idle ones are no longer available.
  PrefixEntries pin(const PrefixPins& prefix, std::vector<BlockMove>& moves);
  bool is_loading(const PrefixPins& prefix) const;
  /// Begins to load what lower levels have of these names, all of which were found, into the pool,
  /// the first ones first, as far as it fits in `room` blocks of those that are available. Under
  /// write-back they take blocks that are free, so that nothing need be copied down. Until
  /// prefetched() they are pinned, and then as any other that no sequence uses.
  PrefixEntries prefetch(LeadingNames names, std::int64_t room, std::vector<BlockMove>& moves);
  void prefetched(std::span<const PrefixEntry> entries);
  /// Begins to copy what lower levels have of these names, and the pool has not, to the nearest one
  /// (PrefixCopies::raise); stored() reports the end of each copy. Under write-through.
  std::vector<PrefixCopies::Store> raise(LeadingNames names);
  /// Blocks that are being prefetched.
  std::int64_t prefetching() const { return prefetching_; }
  /// These loads have arrived. `prompt` says whose they were; without it nothing is written through
  /// now to lower levels whose blocks are longer than named ones.
  void arrived(std::span<const PrefixEntry> loads,
               LeadingNames prompt = std::span<const std::uint64_t>{});
  /// Turns blocks of a sequence into entries that others can share, pinned by the sequence.
  void share(const PrefixPins& prefix);
  void release(const PrefixPins& prefix);

  /// The time is `now`, which never falls. Entries whose lifetime has ended leave their levels, by
  /// the appended moves, and pauses end that have lasted as long as they may.
  void advance(SimTime now, std::vector<BlockMove>& moves);
  /// Like release(), where the session pauses: its next request finds these pinned, if the limits
  /// allow it.
  void pause(const SessionPlace& place, const PrefixPins& prefix);
  /// The same, where these leave the pool, as far as no other sequence uses them. Lower levels keep
  /// theirs.
  void discard(const PrefixPins& prefix, std::vector<BlockMove>& moves);
  /// The session goes on: what pause() pinned for it is released. Its request has pinned it before.
  void resume(const SessionPlace& place);
  /// Entries of sessions that pause, once for each of these.
  PrefixEntries preserved() const { return pauses_ ? pauses_->entries() : PrefixEntries{}; }
  /// Ends the pause that began first; false where there is none.
  bool end_a_pause();
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
  /// Levels below the pool that are written through to.
  std::int64_t levels_below() const { return copies_ ? copies_->levels() : 0; }
  /// With a prefix cache only.
  const PrefixParts& parts() const { return *parts_; }
  /// True where a sequence pins stretches of windows or chunks.
  bool has_windows() const { return parts_ && parts_->has_windows(); }

 private:
  std::int64_t pinned() const { return cache_ ? cache_->pooled() - cache_->evictable() : 0; }
  PrefixEntries entries_of(const PrefixPins& prefix) const;
  std::int64_t reachable(std::span<const std::uint64_t> names) const;
  PrefixEntry whole_of(LeadingNames prompt, std::int64_t index) const;
  void make_room(std::vector<BlockMove>& moves);
  void append_stores(const PrefixMoves& moved, std::int64_t from, std::vector<BlockMove>& moves);
  void drop_idle();
  void end_pause(const PrefixEntries& entries);
  void write_through(std::span<const PrefixEntry> entries, LeadingNames prompt);
  PrefixEntries want(std::span<const PrefixEntry> entries, LeadingNames prompt);
  std::int64_t stores_of(const PrefixEntry& entry) const;
  PrefixEntries take_members(const PrefixEntry& stored);

  std::int64_t blocks_;
  std::size_t nearest_size_ = 0;  // of the blocks of the nearest level: TierBlocks::size_of
  // The pool's entries of each long block that is being stored, by its key; for lookup only.
  std::unordered_map<std::uint64_t, PrefixEntries> members_;
  // How many of these lists hold an entry, by key.
  std::unordered_map<std::uint64_t, std::int64_t> holds_;
  std::int64_t stored_from_use_ = 1;  // an entry is written through once so many prompts used it
  bool keeps_idle_ = true;
  double cost_growth_ = 0;
  std::int64_t own_ = 0;
  std::optional<PrefixParts> parts_;
  std::int64_t storing_ = 0;            // blocks
  std::int64_t prefetching_ = 0;        // blocks
  std::optional<PrefixCache> cache_;    // its levels are the pool alone where there are copies
  std::optional<PrefixCopies> copies_;  // under write-through
  std::vector<char> passed_;            // by level
  std::optional<PausedSessions> pauses_;
  SimTime now_{};
  // Discarded entries that are still being stored; for lookup only.
  std::unordered_set<PrefixEntry, PrefixEntryHash> discarded_;
};

}  // namespace tiersim
