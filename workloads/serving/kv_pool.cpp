#include "workloads/serving/kv_pool.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace tiersim {

KvPool::KvPool(std::int64_t blocks, const std::optional<Prefixes>& prefixes) : blocks_(blocks) {
  TS_EXPECTS(blocks > 0, blocks);
  if (!prefixes) return;
  parts_ = prefixes->parts;
  // A level that is smaller than an entry is left out.
  std::vector<std::int64_t> levels = prefixes->levels;
  for (std::int64_t& level : levels)
    if (level < parts_->largest()) level = 0;
  if (prefixes->write_policy == WritePolicy::write_back) {
    cache_.emplace(levels);
    return;
  }
  cache_.emplace(std::vector<std::int64_t>{});
  copies_.emplace(levels);
}

PrefixEntries KvPool::entries_of(const PrefixPins& prefix) const {
  PrefixEntries out;
  if (parts_->whole_blocks() > 0)
    for (const std::uint64_t name : prefix.names) out.push_back(parts_->whole(name));
  for (const WindowPart& part : prefix.window) out.push_back(parts_->entry(part));
  return out;
}

std::int64_t KvPool::blocks_of(const PrefixPins& prefix) const {
  if (!parts_) return 0;
  std::int64_t sum = parts_->whole_blocks() * static_cast<std::int64_t>(prefix.names.size());
  for (const WindowPart& part : prefix.window) sum += part.blocks;
  return sum;
}

std::optional<std::int64_t> KvPool::level_of(const PrefixEntry& entry) const {
  if (const auto level = cache_->level_of(entry)) return level;
  if (copies_)
    if (const std::int64_t level = copies_->level_of(entry); level > 0) return level;
  return std::nullopt;
}

// Entries that are to be stored are pinned, so that they are not evicted before.
void KvPool::write_through(std::span<const PrefixEntry> entries) {
  if (!copies_) return;
  const PrefixEntries wanted = copies_->want(entries);
  cache_->use(wanted);
  storing_ += tiersim::blocks_of(wanted);
}

std::optional<PrefixCopies::Store> KvPool::next_store(std::int64_t level) {
  return copies_ ? copies_->next(level) : std::nullopt;
}

void KvPool::stored(const PrefixCopies::Store& store) {
  copies_->stored(store);
  if (store.from > 0) return;
  cache_->release(store.entries);
  storing_ -= tiersim::blocks_of(store.entries);
}

// Evicts as many blocks as the pool is over its size. Each level that was written to got its
// entries from the next nearer level with writes; levels without capacity are skipped.
void KvPool::make_room(std::vector<BlockMove>& moves) {
  if (!cache_) return;
  const std::int64_t over = own_ + cache_->pooled() - blocks_;
  if (over <= 0) return;
  const PrefixMoves moved = cache_->evict(over);
  std::int64_t from = 0;
  for (std::size_t level = 1; level < moved.written.size(); ++level) {
    if (moved.written[level] == 0) continue;
    const auto to = static_cast<std::int64_t>(level);
    moves.push_back({MoveKind::prefix_store, moved.written[level], from, to});
    from = to;
  }
}

bool KvPool::take(std::int64_t blocks, std::vector<BlockMove>& moves) {
  TS_EXPECTS(blocks >= 0, blocks);
  if (blocks > available()) return false;
  own_ += blocks;
  make_room(moves);
  return true;
}

void KvPool::give(std::int64_t blocks) {
  TS_EXPECTS(0 <= blocks && blocks <= own_, blocks, own_);
  own_ -= blocks;
}

// An upper bound of the leading named blocks that a prompt can use, by what windows, chunks and
// states miss at the end of all of them; the number of all where nothing is missing.
std::int64_t KvPool::reachable(std::span<const std::uint64_t> names) const {
  const auto count = static_cast<std::int64_t>(names.size());
  if (parts_->state_blocks() > 0 && !level_of(parts_->state(names.back()))) return count - 1;
  const WindowParts window = parts_->needed(names);
  // Any number of named blocks beyond the one of a missing stretch needs that stretch, too.
  std::int64_t most = count;
  for (const WindowPart& part : window)
    if (!level_of(parts_->entry(part))) most = std::min(most, part.stretch / parts_->stretches());
  return most;
}

KvPool::Found KvPool::find(std::span<const std::uint64_t> names) const {
  Found out;
  if (!cache_) return out;
  const auto whole = [&](std::uint64_t name) {
    return parts_->whole_blocks() == 0 || level_of(parts_->whole(name)).has_value();
  };
  while (out.matched < static_cast<std::int64_t>(names.size()) &&
         whole(names[static_cast<std::size_t>(out.matched)]))
    ++out.matched;
  const auto first = [&](std::int64_t count) {
    return names.first(static_cast<std::size_t>(count));
  };
  out.entries = out.matched;
  while (out.entries > 0) {
    const std::int64_t most = reachable(first(out.entries));
    if (most == out.entries) break;
    out.entries = most;
  }
  const WindowParts window = parts_->needed(first(out.entries));
  const PrefixEntries pins = entries_of({first(out.entries), window});
  for (const PrefixEntry& entry : pins)
    if (level_of(entry).value_or(0) > 0) out.below += entry.blocks;
  out.idle = cache_->idle(pins);
  return out;
}

PrefixEntries KvPool::pin(const PrefixPins& prefix, std::vector<BlockMove>& moves) {
  PrefixEntries loads;
  if (prefix.names.empty()) return loads;
  const PrefixEntries pins = entries_of(prefix);
  std::vector<std::int64_t> levels;
  std::vector<std::int64_t> from;  // blocks, by level
  const auto read = [&](const PrefixEntry& entry) {
    const std::optional<std::int64_t> level = level_of(entry);
    TS_EXPECTS(level.has_value(), entry.name, entry.part);
    if (static_cast<std::size_t>(*level) >= from.size())
      from.resize(static_cast<std::size_t>(*level) + 1);
    from[static_cast<std::size_t>(*level)] += entry.blocks;
    return *level;
  };
  for (const PrefixEntry& entry : pins) levels.push_back(read(entry));
  cache_->load(pins);
  if (copies_) copies_->touch(pins);
  if (parts_->state_blocks() > 0) {
    const PrefixEntry state = parts_->state(prefix.names.back());
    if (read(state) == 0) moves.push_back({MoveKind::state_load, state.blocks, 0, 0});
    if (cache_->level_of(state)) cache_->touch(state);
    if (copies_) copies_->touch({&state, 1});
  }
  make_room(moves);
  for (std::size_t level = 1; level < from.size(); ++level)
    if (from[level] > 0)
      moves.push_back({MoveKind::prefix_load, from[level], static_cast<std::int64_t>(level), 0});
  for (std::size_t k = 0; k < pins.size(); ++k) {
    if (levels[k] > 0)
      loads.push_back(pins[k]);
    else if (cache_->loading({&pins[k], 1}) == 0)
      write_through({&pins[k], 1});  // its copy may have been evicted
  }
  TS_ENSURES(used() <= blocks_, used(), blocks_);
  return loads;
}

bool KvPool::is_loading(const PrefixPins& prefix) const {
  return cache_ && !prefix.names.empty() && cache_->loading(entries_of(prefix)) > 0;
}

void KvPool::arrived(std::span<const PrefixEntry> loads) {
  if (loads.empty()) return;
  cache_->arrived(loads);
  write_through(loads);
}

// Another sequence's copy stays where it made the same entry first. An entry that another one is
// loading counts as arrived.
void KvPool::share(const PrefixPins& prefix) {
  const PrefixEntries entries = entries_of(prefix);
  give(tiersim::blocks_of(entries));
  cache_->use(entries);
  arrived(entries);
  TS_ENSURES(used() <= blocks_, used(), blocks_);
}

void KvPool::release(const PrefixPins& prefix) {
  if (!cache_) return;
  const PrefixEntries entries = entries_of(prefix);
  if (!entries.empty()) cache_->release(entries);
}

std::int64_t KvPool::keep(std::span<const PrefixEntry> entries, std::int64_t room,
                          std::vector<BlockMove>& moves) {
  PrefixEntries fresh;
  for (const PrefixEntry& entry : entries) {
    if (cache_->level_of(entry) == 0 || entry.blocks > room) continue;
    room -= entry.blocks;
    fresh.push_back(entry);
  }
  cache_->use(fresh);
  make_room(moves);
  for (const PrefixEntry& entry : fresh) cache_->release({&entry, 1});
  write_through(fresh);
  return static_cast<std::int64_t>(fresh.size());
}

}  // namespace tiersim
