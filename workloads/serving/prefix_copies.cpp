#include "workloads/serving/prefix_copies.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {

PrefixCopies::PrefixCopies(const std::vector<std::int64_t>& capacity) {
  for (const std::int64_t blocks : capacity) {
    TS_EXPECTS(blocks >= 0, blocks);
    levels_.push_back({.capacity = blocks});
  }
}

std::int64_t PrefixCopies::below(std::int64_t level) const {
  for (std::int64_t next = level + 1; next <= levels(); ++next)
    if (at(next).capacity > 0) return next;
  return 0;
}

std::int64_t PrefixCopies::level_of(std::uint64_t block) const {
  for (std::int64_t level = 1; level <= levels(); ++level)
    if (at(level).places.contains(block)) return level;
  return 0;
}

void PrefixCopies::touch(std::span<const std::uint64_t> blocks) {
  for (Level& level : levels_) {
    for (std::size_t k = blocks.size(); k-- > 0;) {
      const auto place = level.places.find(blocks[k]);
      if (place != level.places.end())
        level.recency.splice(level.recency.end(), level.recency, place->second);
    }
  }
}

PrefixBlocks PrefixCopies::queue(std::int64_t level, std::span<const std::uint64_t> blocks) {
  PrefixBlocks out;
  if (level == 0) return out;
  Level& to = at(level);
  std::ranges::copy_if(blocks, std::back_inserter(out),
                       [&](std::uint64_t block) { return to.lacks(block); });
  to.waiting.insert(to.waiting.end(), out.begin(), out.end());
  to.coming.insert(out.begin(), out.end());
  return out;
}

PrefixBlocks PrefixCopies::want(std::span<const std::uint64_t> blocks) {
  return queue(below(0), blocks);
}

std::optional<PrefixCopies::Store> PrefixCopies::next(std::int64_t level) {
  Level& to = at(level);
  if (to.waiting.empty()) return std::nullopt;
  std::int64_t from = level - 1;
  while (from > 0 && at(from).capacity == 0) --from;
  return Store{from, level, std::exchange(to.waiting, {})};
}

void PrefixCopies::stored(const Store& store) {
  Level& to = at(store.to);
  for (std::size_t k = store.blocks.size(); k-- > 0;) {
    const std::uint64_t block = store.blocks[k];
    TS_EXPECTS(to.coming.contains(block) && !to.places.contains(block), block);
    to.coming.erase(block);
    to.places.emplace(block, to.recency.insert(to.recency.end(), block));
    if (std::cmp_less_equal(to.places.size(), to.capacity)) continue;
    to.places.erase(to.recency.front());
    to.recency.pop_front();
  }
  queue(below(store.to), store.blocks);
}

std::int64_t PrefixCopies::held(std::int64_t level) const {
  TS_EXPECTS(level >= 1 && level <= levels(), level, levels());
  return static_cast<std::int64_t>(at(level).places.size());
}

}  // namespace tiersim
