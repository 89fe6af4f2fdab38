#pragma once
// Blocks of the tiers below a pool. A tier may have longer blocks than the named blocks of prompts,
// as LMCache has chunks of 256 tokens beside vLLM's blocks of 16, and a lower tier longer ones than
// the tier above it. A longer block consists of consecutive named blocks of a prompt. Its name is
// that of the last one, because a name stands for a block and everything before it.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/serving/prefix_parts.hpp"

namespace tiersim {

class TierBlocks {
 public:
  /// All blocks are named blocks.
  TierBlocks() = default;
  /// Blocks have the sizes of these levels. At most kMostLongerBlocks different sizes are longer
  /// than a named block, and each size is a multiple of the smaller ones.
  explicit TierBlocks(const std::vector<PrefixLevel>& levels);

  /// True where some level has longer blocks than named ones.
  bool are_longer() const { return sizes_.size() > 1; }
  /// The index of a size in ascending order. A named block has index 0.
  std::size_t size_of(std::int64_t names) const;
  std::int64_t names(std::size_t size) const { return sizes_[size]; }

  /// Sets `entry.longer` and `entry.fills`, where the entry is the prompt's named block `index`.
  void set_longer(PrefixEntry& entry, LeadingNames prompt, std::int64_t index) const;
  /// The block of this size that contains the entry. Requires has(entry, size).
  PrefixEntry block(const PrefixEntry& entry, std::size_t size) const;
  /// The blocks of this size that contain these entries, which are in the order of their prompt.
  /// Each block comes once, and blocks that the prompt does not fill are left out.
  PrefixEntries blocks(std::span<const PrefixEntry> entries, std::size_t size) const;
  /// The blocks of a smaller size that the block `whole` of the prompt consists of; empty if the
  /// prompt does not contain it.
  PrefixEntries members(const PrefixEntry& whole, LeadingNames prompt, std::size_t size) const;
  /// True if the entry's prompt fills the block of this size that contains the entry.
  static bool has(const PrefixEntry& entry, std::size_t size) { return size <= entry.fills; }
  /// The key of block(entry, size).
  static std::uint64_t key(const PrefixEntry& entry, std::size_t size) {
    return entry.size == size ? entry.key() : key_of(entry.longer[size - 1], entry.part);
  }

 private:
  std::vector<std::int64_t> sizes_ = {1};  // in named blocks, smallest first
};

}  // namespace tiersim
