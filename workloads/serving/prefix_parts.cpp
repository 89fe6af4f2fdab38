#include "workloads/serving/prefix_parts.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace tiersim {

std::int64_t blocks_of(std::span<const PrefixEntry> entries) {
  std::int64_t sum = 0;
  for (const PrefixEntry& entry : entries) sum += entry.blocks;
  return sum;
}

PrefixParts::PrefixParts(std::span<const BlockGroup> groups, std::int64_t block,
                         std::int64_t positions)
    : block_(block), positions_(positions), stretches_(positions / block) {
  TS_EXPECTS(block > 0 && positions > 0 && positions % block == 0, block, positions);
  for (const BlockGroup& group : groups) {
    TS_EXPECTS(group.blocks > 0 && group.most >= 0, group.blocks, group.most);
    if (group.is_state)
      state_blocks_ += group.blocks;
    else if (group.most == 0)
      whole_blocks_ += group.blocks * stretches_;
    else
      windows_.push_back(group);
  }
}

std::int64_t PrefixParts::largest() const {
  std::int64_t most = std::max(whole_blocks_, state_blocks_);
  for (const BlockGroup& window : windows_) most = std::max(most, window.blocks);
  return most;
}

// Parts 0 and 1 are those of whole() and state().
PrefixEntry PrefixParts::entry(const WindowPart& part) const {
  const auto window = static_cast<std::int64_t>(part.window);
  return {part.name, 2 + window * stretches_ + part.stretch % stretches_, part.blocks};
}

std::int64_t PrefixParts::needed_from(const BlockGroup& window, std::int64_t positions) const {
  const std::int64_t last = std::max<std::int64_t>(0, stretches_of(positions) - window.most);
  if (window.chunk == 0) return last;
  return std::max(last, positions / window.chunk * window.chunk / block_);
}

std::int64_t PrefixParts::held_from(const BlockGroup& window, std::int64_t positions) const {
  const std::int64_t stretches = stretches_of(positions);
  const std::int64_t last = std::max<std::int64_t>(0, stretches - window.most);
  if (window.chunk == 0 || stretches == 0) return last;
  // The chunk of the last position of the last stretch.
  return std::max(last, (stretches * block_ - 1) / window.chunk * window.chunk / block_);
}

std::int64_t PrefixParts::most_blocks(std::int64_t positions) const {
  const std::int64_t stretches = stretches_of(positions);
  std::int64_t sum = stretches * (whole_blocks_ / stretches_) + state_blocks_;
  for (const BlockGroup& window : windows_) {
    // A sequence has room for a whole chunk as soon as it is longer than one.
    const bool beyond = window.chunk > 0 && stretches * block_ > window.chunk;
    sum += window.blocks * (beyond ? 2 * window.most : std::min(stretches, 2 * window.most));
  }
  return sum;
}

// A stretch is kept where the end of its own named block needs it: if a later end does, that one
// does.
void PrefixParts::add(std::size_t window, std::span<const std::uint64_t> names, std::int64_t from,
                      std::int64_t to, WindowParts& out) const {
  const BlockGroup& of = windows_[window];
  for (std::int64_t name = from / stretches_; name * stretches_ < to; ++name) {
    const std::int64_t begin =
        std::max({from, name * stretches_, needed_from(of, (name + 1) * positions_)});
    const std::int64_t end = std::min(to, (name + 1) * stretches_);
    for (std::int64_t stretch = begin; stretch < end; ++stretch)
      out.push_back({window, stretch, of.blocks, names[static_cast<std::size_t>(name)]});
  }
}

WindowParts PrefixParts::needed(std::span<const std::uint64_t> names) const {
  WindowParts out;
  const auto count = static_cast<std::int64_t>(names.size());
  for (std::size_t w = 0; w < windows_.size(); ++w)
    add(w, names, needed_from(windows_[w], count * positions_), count * stretches_, out);
  return out;
}

WindowParts PrefixParts::between(std::span<const std::uint64_t> names, std::int64_t first,
                                 std::int64_t from, std::optional<std::int64_t> to) const {
  WindowParts out;
  const std::int64_t end = static_cast<std::int64_t>(names.size()) * stretches_;
  for (std::size_t w = 0; w < windows_.size(); ++w)
    add(w, names, std::max(first * stretches_, held_from(windows_[w], from)),
        to ? std::min(end, held_from(windows_[w], *to)) : end, out);
  return out;
}

}  // namespace tiersim
