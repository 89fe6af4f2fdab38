#include "workloads/serving/tier_blocks.hpp"

#include <algorithm>
#include <iterator>

#include "sim/base/check.hpp"

namespace tiersim {

TierBlocks::TierBlocks(const std::vector<PrefixLevel>& levels) {
  for (const PrefixLevel& level : levels) sizes_.push_back(level.names);
  std::ranges::sort(sizes_);
  sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
  TS_EXPECTS(sizes_.front() == 1 && sizes_.size() <= kMostLongerBlocks + 1, sizes_.front(),
             sizes_.size());
  for (std::size_t k = 1; k < sizes_.size(); ++k)
    TS_EXPECTS(sizes_[k] % sizes_[k - 1] == 0, sizes_[k], sizes_[k - 1]);
}

std::size_t TierBlocks::size_of(std::int64_t names) const {
  const auto at = std::ranges::find(sizes_, names);
  TS_EXPECTS(at != sizes_.end(), names);
  return static_cast<std::size_t>(at - sizes_.begin());
}

void TierBlocks::set_longer(PrefixEntry& entry, LeadingNames prompt, std::int64_t index) const {
  for (std::size_t size = 1; size < sizes_.size(); ++size) {
    const std::int64_t end = (index / sizes_[size] + 1) * sizes_[size];
    if (end > std::ssize(prompt.prompt)) break;
    entry.longer[size - 1] = prompt.prompt[static_cast<std::size_t>(end - 1)];
    entry.fills = static_cast<std::uint8_t>(size);
  }
}

PrefixEntry TierBlocks::block(const PrefixEntry& entry, std::size_t size) const {
  TS_EXPECTS(has(entry, size) && entry.size <= size, entry.name, size);
  PrefixEntry out = entry;
  if (entry.size == size) return out;
  const std::int64_t parts = sizes_[size] / sizes_[entry.size];
  out.name = entry.longer[size - 1];
  out.blocks *= parts;
  out.cost *= static_cast<double>(parts);
  out.size = static_cast<std::uint8_t>(size);
  return out;
}

PrefixEntries TierBlocks::blocks(std::span<const PrefixEntry> entries, std::size_t size) const {
  PrefixEntries out;
  for (const PrefixEntry& entry : entries) {
    if (!has(entry, size)) continue;
    const bool same =
        entry.size < size && !out.empty() && out.back().name == entry.longer[size - 1];
    if (!same) out.push_back(block(entry, size));
  }
  return out;
}

PrefixEntries TierBlocks::members(const PrefixEntry& whole, LeadingNames prompt,
                                  std::size_t size) const {
  PrefixEntries out;
  const std::int64_t length = sizes_[whole.size];
  for (std::int64_t end = length; end <= std::ssize(prompt.prompt); end += length) {
    if (prompt.prompt[static_cast<std::size_t>(end - 1)] != whole.name) continue;
    for (std::int64_t k = end - length; k < end; k += sizes_[size]) {
      PrefixEntry part(prompt.prompt[static_cast<std::size_t>(k)], whole.part,
                       whole.blocks / length);
      part.cost = whole.cost / static_cast<double>(length);
      set_longer(part, prompt, k);
      out.push_back(block(part, size));
    }
    break;
  }
  return out;
}

}  // namespace tiersim
