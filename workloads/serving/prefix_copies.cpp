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

std::int64_t PrefixCopies::level_of(const PrefixEntry& entry) const {
  for (std::int64_t level = 1; level <= levels(); ++level)
    if (at(level).places.contains(entry)) return level;
  return 0;
}

void PrefixCopies::touch(std::span<const PrefixEntry> entries) {
  for (Level& level : levels_) {
    for (std::size_t k = entries.size(); k-- > 0;) {
      const auto place = level.places.find(entries[k]);
      if (place != level.places.end())
        level.recency.splice(level.recency.end(), level.recency, place->second);
    }
  }
}

PrefixEntries PrefixCopies::queue(std::int64_t level, std::span<const PrefixEntry> entries) {
  PrefixEntries out;
  if (level == 0) return out;
  Level& to = at(level);
  std::ranges::copy_if(entries, std::back_inserter(out),
                       [&](const PrefixEntry& entry) { return to.lacks(entry); });
  to.waiting.insert(to.waiting.end(), out.begin(), out.end());
  to.coming.insert(out.begin(), out.end());
  return out;
}

PrefixEntries PrefixCopies::want(std::span<const PrefixEntry> entries) {
  return queue(below(0), entries);
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
  for (std::size_t k = store.entries.size(); k-- > 0;) {
    const PrefixEntry& entry = store.entries[k];
    TS_EXPECTS(to.coming.contains(entry) && !to.places.contains(entry), entry.name, entry.part);
    to.coming.erase(entry);
    to.places.emplace(entry, to.recency.insert(to.recency.end(), entry));
    to.size += entry.blocks;
    while (to.size > to.capacity) {
      to.size -= to.recency.front().blocks;
      to.places.erase(to.recency.front());
      to.recency.pop_front();
    }
  }
  queue(below(store.to), store.entries);
}

std::int64_t PrefixCopies::held(std::int64_t level) const {
  TS_EXPECTS(level >= 1 && level <= levels(), level, levels());
  return at(level).size;
}

}  // namespace tiersim
