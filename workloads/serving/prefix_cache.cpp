#include "workloads/serving/prefix_cache.hpp"

#include <algorithm>
#include <limits>

#include "sim/base/check.hpp"

namespace tiersim {

PrefixCache::PrefixCache(const std::vector<std::int64_t>& capacity) {
  levels_.push_back({.capacity = std::numeric_limits<std::int64_t>::max()});
  for (const std::int64_t entries : capacity) {
    TS_EXPECTS(entries >= 0, entries);
    levels_.push_back({.capacity = entries});
  }
}

const PrefixCache::Entry* PrefixCache::lookup(const PrefixEntry& entry) const {
  const auto found = index_.find(entry);
  return found == index_.end() ? nullptr : &entries_[static_cast<std::size_t>(found->second)];
}

PrefixCache::Index PrefixCache::index_of(const PrefixEntry& entry) const {
  const auto found = index_.find(entry);
  TS_EXPECTS(found != index_.end(), entry.name, entry.part);
  return found->second;
}

std::vector<std::int64_t> PrefixCache::find(std::span<const PrefixEntry> prefix) const {
  std::vector<std::int64_t> levels;
  for (const PrefixEntry& each : prefix) {
    const Entry* entry = lookup(each);
    if (entry == nullptr) break;
    levels.push_back(entry->level);
  }
  return levels;
}

std::optional<std::int64_t> PrefixCache::level_of(const PrefixEntry& entry) const {
  const Entry* found = lookup(entry);
  return found == nullptr ? std::nullopt : std::optional<std::int64_t>(found->level);
}

std::int64_t PrefixCache::idle(std::span<const PrefixEntry> prefix) const {
  std::int64_t sum = 0;
  for (const PrefixEntry& each : prefix) {
    const Entry* entry = lookup(each);
    if (entry != nullptr && entry->level == 0 && entry->pins == 0) sum += entry->of.blocks;
  }
  return sum;
}

std::int64_t PrefixCache::loading(std::span<const PrefixEntry> prefix) const {
  return std::count_if(prefix.begin(), prefix.end(), [this](const PrefixEntry& each) {
    const Entry* entry = lookup(each);
    return entry != nullptr && entry->loading;
  });
}

std::int64_t PrefixCache::use(std::span<const PrefixEntry> prefix) {
  std::int64_t gained = 0;
  for (const PrefixEntry& entry : prefix) gained += pin(entry, false);
  return gained;
}

std::int64_t PrefixCache::load(std::span<const PrefixEntry> prefix) {
  std::int64_t gained = 0;
  for (const PrefixEntry& entry : prefix) gained += pin(entry, true);
  return gained;
}

void PrefixCache::arrived(std::span<const PrefixEntry> prefix) {
  for (const PrefixEntry& entry : prefix) at(index_of(entry)).loading = false;
}

void PrefixCache::release(std::span<const PrefixEntry> prefix) {
  // Last block first: it becomes the oldest and is evicted before those that it builds on.
  for (std::size_t k = prefix.size(); k-- > 0;) {
    const Index i = index_of(prefix[k]);
    Entry& entry = at(i);
    TS_EXPECTS(entry.pins > 0, entry.of.name);
    TS_EXPECTS(!entry.loading, entry.of.name);
    if (--entry.pins > 0) continue;
    pinned_ -= entry.of.blocks;
    append(i, 0);
  }
}

void PrefixCache::touch(const PrefixEntry& entry) {
  const Index i = index_of(entry);
  if (at(i).pins > 0) return;
  unlink(i);
  append(i, at(i).level);
}

PrefixMoves PrefixCache::evict(std::int64_t blocks) {
  TS_EXPECTS(blocks >= 0 && blocks <= evictable(), blocks, evictable());
  PrefixMoves moves{.written = std::vector<std::int64_t>(levels_.size(), 0)};
  while (moves.freed < blocks) {
    const Index i = levels_.front().oldest;
    unlink(i);
    moves.freed += at(i).of.blocks;
    sink(i, 1, moves);
  }
  return moves;
}

std::int64_t PrefixCache::held(std::int64_t level) const {
  TS_EXPECTS(level >= 1 && level < static_cast<std::int64_t>(levels_.size()), level);
  return levels_[static_cast<std::size_t>(level)].size;
}

std::int64_t PrefixCache::pin(const PrefixEntry& of, bool loaded) {
  const auto found = index_.find(of);
  const bool is_new = found == index_.end();
  const Index i = is_new ? make(of) : found->second;
  Entry& entry = at(i);
  const std::int64_t gained = is_new || entry.level > 0 ? entry.of.blocks : 0;
  if (entry.pins++ > 0) return gained;
  if (!is_new) unlink(i);
  entry.loading = loaded && gained > 0;
  entry.level = 0;
  pinned_ += entry.of.blocks;
  return gained;
}

PrefixCache::Index PrefixCache::make(const PrefixEntry& entry) {
  TS_EXPECTS(entry.blocks > 0, entry.name, entry.blocks);
  if (spare_.empty()) {
    TS_INVARIANT(entries_.size() < static_cast<std::size_t>(std::numeric_limits<Index>::max()));
    spare_.push_back(static_cast<Index>(entries_.size()));
    entries_.push_back({.of = entry});
  }
  const Index i = spare_.back();
  spare_.pop_back();
  at(i) = {.of = entry};
  index_.emplace(entry, i);
  return i;
}

void PrefixCache::append(Index i, std::int32_t level) {
  Level& to = levels_[static_cast<std::size_t>(level)];
  Entry& entry = at(i);
  entry.level = level;
  entry.older = to.newest;
  entry.newer = kNone;
  (to.newest == kNone ? to.oldest : at(to.newest).newer) = i;
  to.newest = i;
  to.size += entry.of.blocks;
}

void PrefixCache::unlink(Index i) {
  Entry& entry = at(i);
  Level& from = levels_[static_cast<std::size_t>(entry.level)];
  (entry.older == kNone ? from.oldest : at(entry.older).newer) = entry.newer;
  (entry.newer == kNone ? from.newest : at(entry.newer).older) = entry.older;
  entry.older = entry.newer = kNone;
  from.size -= entry.of.blocks;
}

// The entry displaces as many of the level as its blocks need.
void PrefixCache::sink(Index i, std::int32_t level, PrefixMoves& moves) {
  const std::int64_t blocks = at(i).of.blocks;
  const auto at_level = [&] { return static_cast<std::size_t>(level); };
  while (at_level() < levels_.size() && levels_[at_level()].capacity < blocks) ++level;
  if (at_level() == levels_.size()) {
    moves.gone += blocks;
    index_.erase(at(i).of);
    spare_.push_back(i);
    return;
  }
  const Level& to = levels_[at_level()];
  while (to.size + blocks > to.capacity) {
    const Index displaced = to.oldest;
    unlink(displaced);
    sink(displaced, level + 1, moves);
  }
  append(i, level);
  moves.written[at_level()] += blocks;
}

}  // namespace tiersim
