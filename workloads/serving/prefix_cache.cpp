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

const PrefixCache::Entry* PrefixCache::lookup(std::uint64_t name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[static_cast<std::size_t>(found->second)];
}

std::vector<std::int64_t> PrefixCache::find(std::span<const std::uint64_t> prefix) const {
  std::vector<std::int64_t> levels;
  for (const std::uint64_t name : prefix) {
    const Entry* entry = lookup(name);
    if (entry == nullptr) break;
    levels.push_back(entry->level);
  }
  return levels;
}

std::int64_t PrefixCache::idle(std::span<const std::uint64_t> prefix) const {
  return std::count_if(prefix.begin(), prefix.end(), [this](std::uint64_t name) {
    const Entry* entry = lookup(name);
    return entry != nullptr && entry->level == 0 && entry->pins == 0;
  });
}

std::int64_t PrefixCache::loading(std::span<const std::uint64_t> prefix) const {
  return std::count_if(prefix.begin(), prefix.end(), [this](std::uint64_t name) {
    const Entry* entry = lookup(name);
    return entry != nullptr && entry->loading;
  });
}

std::int64_t PrefixCache::use(std::span<const std::uint64_t> prefix) {
  std::int64_t gained = 0;
  for (const std::uint64_t name : prefix) gained += pin(name, false);
  return gained;
}

std::int64_t PrefixCache::load(std::span<const std::uint64_t> prefix) {
  std::int64_t gained = 0;
  for (const std::uint64_t name : prefix) gained += pin(name, true);
  return gained;
}

void PrefixCache::arrived(std::span<const std::uint64_t> prefix) {
  for (const std::uint64_t name : prefix) {
    TS_EXPECTS(index_.contains(name), name);
    at(index_.find(name)->second).loading = false;
  }
}

void PrefixCache::release(std::span<const std::uint64_t> prefix) {
  // Last block first: it becomes the oldest and is evicted before those that it builds on.
  for (std::size_t k = prefix.size(); k-- > 0;) {
    TS_EXPECTS(index_.contains(prefix[k]), prefix[k]);
    const Index i = index_.find(prefix[k])->second;
    Entry& entry = at(i);
    TS_EXPECTS(entry.pins > 0, entry.name);
    TS_EXPECTS(!entry.loading, entry.name);
    if (--entry.pins > 0) continue;
    --pinned_;
    append(i, 0);
  }
}

PrefixMoves PrefixCache::evict(std::int64_t count) {
  TS_EXPECTS(count >= 0 && count <= evictable(), count, evictable());
  PrefixMoves moves{.written = std::vector<std::int64_t>(levels_.size(), 0), .freed = count};
  for (std::int64_t k = 0; k < count; ++k) {
    const Index i = levels_.front().oldest;
    unlink(i);
    sink(i, 1, moves);
  }
  return moves;
}

std::int64_t PrefixCache::held(std::int64_t level) const {
  TS_EXPECTS(level >= 1 && level < static_cast<std::int64_t>(levels_.size()), level);
  return levels_[static_cast<std::size_t>(level)].size;
}

std::int64_t PrefixCache::pin(std::uint64_t name, bool loaded) {
  const auto found = index_.find(name);
  const bool is_new = found == index_.end();
  const Index i = is_new ? make(name) : found->second;
  Entry& entry = at(i);
  const std::int64_t gained = is_new || entry.level > 0 ? 1 : 0;
  if (entry.pins++ > 0) return gained;
  if (!is_new) unlink(i);
  entry.loading = loaded && gained > 0;
  entry.level = 0;
  ++pinned_;
  return gained;
}

PrefixCache::Index PrefixCache::make(std::uint64_t name) {
  if (spare_.empty()) {
    TS_INVARIANT(entries_.size() < static_cast<std::size_t>(std::numeric_limits<Index>::max()));
    spare_.push_back(static_cast<Index>(entries_.size()));
    entries_.push_back({});
  }
  const Index i = spare_.back();
  spare_.pop_back();
  at(i) = {.name = name};
  index_.emplace(name, i);
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
  ++to.size;
}

void PrefixCache::unlink(Index i) {
  Entry& entry = at(i);
  Level& from = levels_[static_cast<std::size_t>(entry.level)];
  (entry.older == kNone ? from.oldest : at(entry.older).newer) = entry.newer;
  (entry.newer == kNone ? from.newest : at(entry.newer).older) = entry.older;
  entry.older = entry.newer = kNone;
  --from.size;
}

// Each level displaces at most one entry to the next.
void PrefixCache::sink(Index i, std::int32_t level, PrefixMoves& moves) {
  for (; static_cast<std::size_t>(level) < levels_.size(); ++level) {
    const Level& to = levels_[static_cast<std::size_t>(level)];
    if (to.capacity == 0) continue;
    const bool full = to.size == to.capacity;
    const Index displaced = to.oldest;
    if (full) unlink(displaced);
    append(i, level);
    ++moves.written[static_cast<std::size_t>(level)];
    if (!full) return;
    i = displaced;
  }
  ++moves.gone;
  index_.erase(at(i).name);
  spare_.push_back(i);
}

}  // namespace tiersim
