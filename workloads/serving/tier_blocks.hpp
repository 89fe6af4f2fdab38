#pragma once
// The blocks of the tiers below a pool, which may be longer than named ones (LMCache's chunks of
// 256 tokens beside vLLM's blocks of 16), and longer from tier to tier. A block of a tier is as
// many named blocks that follow each other in a prompt, and has the name of the last one, since a
// name stands for a block with all that comes before it.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/serving/prefix_parts.hpp"

namespace tiersim {

class TierBlocks {
 public:
  /// Named blocks alone.
  TierBlocks() = default;
  /// With the sizes of these levels, at most kMostLongerBlocks of which differ beside that of a
  /// named block. Each is a multiple of the smaller ones.
  explicit TierBlocks(const std::vector<PrefixLevel>& levels);

  /// True where some level has longer blocks than named ones.
  bool are_longer() const { return sizes_.size() > 1; }
  /// The place of a size among all of them: 0 is that of a named block.
  std::size_t size_of(std::int64_t names) const;
  std::int64_t names(std::size_t size) const { return sizes_[size]; }

  /// Says which longer blocks of the prompt the entry, of its named block `index`, is in.
  void set_longer(PrefixEntry& entry, LeadingNames prompt, std::int64_t index) const;
  /// The block of that size that the entry is a part of, or is; has(entry, size) holds.
  PrefixEntry block(const PrefixEntry& entry, std::size_t size) const;
  /// The blocks of that size that these entries, in the order of their prompt, are parts of. Each
  /// comes once, and only where the prompt fills it.
  PrefixEntries blocks(std::span<const PrefixEntry> entries, std::size_t size) const;
  /// The blocks of a smaller size that make up this one of the prompt; none where the prompt does
  /// not have it.
  PrefixEntries members(const PrefixEntry& whole, LeadingNames prompt, std::size_t size) const;
  /// True where the prompt fills the block of that size.
  static bool has(const PrefixEntry& entry, std::size_t size) { return size <= entry.fills; }
  /// The key of block(entry, size).
  static std::uint64_t key(const PrefixEntry& entry, std::size_t size) {
    return entry.size == size ? entry.key() : key_of(entry.longer[size - 1], entry.part);
  }

 private:
  std::vector<std::int64_t> sizes_ = {1};  // in named blocks, smallest first
};

}  // namespace tiersim
