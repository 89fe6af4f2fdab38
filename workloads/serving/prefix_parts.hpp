#pragma once
// The parts of a named block of a prompt that a prefix cache keeps, where layers keep different
// positions. The layers that keep everything have one part of each named block. Layers with a
// window or with chunks have one part for each stretch of positions, since their blocks leave one
// by one; a stretch that no prompt needs after a whole named block has none. A state is one part,
// which exists only where a copy of it was kept.
//
// A prompt that begins with n named blocks of P positions needs
//   all positions  the parts of all n
//   window         the last `most` stretches before n * P
//   chunk          the stretches from the last multiple of the chunk on; at a multiple: none
//   state          the state after n * P positions
// and hits the largest n at which all of them are there. vLLM's coordinator of a hybrid cache and
// SGLang's radix caches look for the same (vllm/v1/core/kv_cache_coordinator.py,
// single_type_kv_cache_manager.py; sglang/srt/mem_cache/mamba_radix_cache.py).
//
// Engines also keep stretches for prompts that leave a named block halfway. The names say nothing
// of such prompts, so these stretches are left out.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/units.hpp"
#include "workloads/eviction/block_cache.hpp"
#include "workloads/eviction/eviction_policy.hpp"
#include "workloads/serving/block_group.hpp"
#include "workloads/serving/request.hpp"

namespace tiersim {

/// The first named blocks of a prompt.
struct LeadingNames {
  std::span<const std::uint64_t> names;
  std::span<const std::uint64_t> prompt;  ///< all of it, which begins with them

  /// Implicit: all of a prompt.
  LeadingNames(std::span<const std::uint64_t> all) : names(all), prompt(all) {}
  LeadingNames(const PrefixBlocks& all) : names(all), prompt(all) {}
  LeadingNames first(std::int64_t count) const {
    LeadingNames out = *this;
    out.names = prompt.first(static_cast<std::size_t>(count));
    return out;
  }
  std::int64_t size() const { return std::ssize(names); }
};

/// One name of 64 bits for a block and a part of it; as a block's own name, a hash.
constexpr std::uint64_t key_of(std::uint64_t name, std::int64_t part) {
  return name ^ static_cast<std::uint64_t>(part) * 0x9E3779B97F4A7C15U;
}

/// The largest number of different sizes of blocks that are longer than a named block.
inline constexpr std::size_t kMostLongerBlocks = 3;

/// A part of a named block, and the blocks of the pool that it takes; or a block of a lower tier,
/// which may be longer (workloads/serving/tier_blocks.hpp).
struct PrefixEntry {
  std::uint64_t name = 0;
  std::int64_t part = 0;
  std::int64_t blocks = 1;
  double cost = 1;         ///< of computing it again, in any unit that all entries share
  std::uint8_t size = 0;   ///< index of its own size in TierBlocks; 0: a named block
  std::uint8_t fills = 0;  ///< index of the longest block around it that the prompt still fills
  /// Names of the longer blocks that contain it; element k has size index k + 1.
  std::array<std::uint64_t, kMostLongerBlocks> longer = {};

  /// Implicit, since a name alone is the one part of a model whose layers keep everything.
  PrefixEntry(std::uint64_t of_name, std::int64_t of_part = 0, std::int64_t takes = 1)
      : name(of_name), part(of_part), blocks(takes) {}
  std::uint64_t key() const { return key_of(name, part); }
  Visit visit() const { return {.key = key(), .blocks = blocks, .cost = cost}; }
  friend bool operator==(const PrefixEntry& a, const PrefixEntry& b) {
    return a.name == b.name && a.part == b.part;
  }
};
using PrefixEntries = std::vector<PrefixEntry>;

/// How much of a prompt's cached prefix was found in the pool [0], in the first [1] and the second
/// [2] tier below it, and in all further tiers together [3]. Named blocks or tokens, as the user
/// says.
using FoundIn = std::array<std::int32_t, 4>;

/// For lookup only, so that the order of a hash has no effect.
struct PrefixEntryHash {
  std::size_t operator()(const PrefixEntry& entry) const { return entry.key(); }
};

/// The room for entries at a level, in blocks, and what leaves it when.
struct PrefixLevel {
  std::int64_t blocks = 0;
  std::int64_t names = 1;                   ///< named blocks of one of its blocks
  Eviction eviction = Eviction::lru;        ///< what leaves when the level is full
  std::optional<Duration> ttl = {};         ///< an entry leaves so long after its last use
  bool exclusive = false;                   ///< it has no entry that the level above it has
  std::optional<std::int64_t> queue = {};   ///< blocks that wait to be stored at most; none: all
  std::shared_ptr<BlockCache> shared = {};  ///< what it holds, for all replicas; null: its own

  /// Implicit, since LRU is what engines do.
  PrefixLevel(std::int64_t of_blocks, Eviction leaves = Eviction::lru)
      : blocks(of_blocks), eviction(leaves) {}
  friend bool operator==(const PrefixLevel&, const PrefixLevel&) = default;
};

std::int64_t blocks_of(std::span<const PrefixEntry> entries);

/// A stretch of positions of the layers of one window or chunk.
struct WindowPart {
  std::size_t window = 0;    ///< of PrefixParts
  std::int64_t stretch = 0;  ///< counted from the beginning of the prompt
  std::int64_t blocks = 0;   ///< of the pool
  std::uint64_t name = 0;    ///< of its named block
};
using WindowParts = std::vector<WindowPart>;

class PrefixParts {
 public:
  /// `positions` of a named block are a multiple of those of a stretch, `block`.
  PrefixParts(std::span<const BlockGroup> groups, std::int64_t block, std::int64_t positions);

  /// Blocks of the part of the layers that keep everything; 0: no layer does.
  std::int64_t whole_blocks() const { return whole_blocks_; }
  /// Blocks of a state; 0: there is none.
  std::int64_t state_blocks() const { return state_blocks_; }
  bool has_windows() const { return !windows_.empty(); }
  /// Stretches of a named block.
  std::int64_t stretches() const { return stretches_; }
  /// Blocks of the largest part.
  std::int64_t largest() const;

  PrefixEntry whole(std::uint64_t name) const { return {name, 0, whole_blocks_}; }
  PrefixEntry state(std::uint64_t name) const { return {name, 1, state_blocks_}; }
  PrefixEntry entry(const WindowPart& part) const;

  /// The parts of windows and chunks that a prompt with these first named blocks needs, in order of
  /// positions for each window.
  WindowParts needed(std::span<const std::uint64_t> names) const;
  /// The kept parts of all windows in the named blocks from `first` on. They begin with the first
  /// stretch that a sequence of `from` positions holds, and end before the first one that a
  /// sequence of `to` positions holds, or with the last one.
  WindowParts between(std::span<const std::uint64_t> names, std::int64_t first, std::int64_t from,
                      std::optional<std::int64_t> to) const;
  /// True where a sequence of so many positions still holds the stretch.
  bool is_held(const WindowPart& part, std::int64_t positions) const {
    return part.stretch >= held_from(windows_[part.window], positions);
  }
  /// The most blocks of one sequence of so many positions. If it found a prefix, it pins the window
  /// before the end of that until it has left it, beside its room for the window at its own end.
  std::int64_t most_blocks(std::int64_t positions) const;
  /// Stretches that hold so many positions.
  std::int64_t stretches_of(std::int64_t positions) const {
    return (positions + block_ - 1) / block_;
  }

 private:
  /// First stretch of those that the token after so many positions attends to.
  std::int64_t needed_from(const BlockGroup& window, std::int64_t positions) const;
  /// First stretch that a sequence of so many positions holds.
  std::int64_t held_from(const BlockGroup& window, std::int64_t positions) const;
  void add(std::size_t window, std::span<const std::uint64_t> names, std::int64_t from,
           std::int64_t to, WindowParts& out) const;

  std::int64_t block_;
  std::int64_t positions_;
  std::int64_t stretches_;
  std::int64_t whole_blocks_ = 0;  // of all stretches
  std::int64_t state_blocks_ = 0;
  std::vector<BlockGroup> windows_;
};

}  // namespace tiersim
