#include "workloads/serving/kv_pool.hpp"

#include <algorithm>
#include <iterator>

#include "sim/base/check.hpp"

namespace tiersim {

KvPool::KvPool(std::int64_t blocks, const std::optional<Prefixes>& prefixes) : blocks_(blocks) {
  TS_EXPECTS(blocks > 0, blocks);
  if (!prefixes) return;
  parts_ = prefixes->parts;
  keeps_idle_ = prefixes->keep_in_pool;
  cost_growth_ = prefixes->cost_growth;
  TS_EXPECTS(keeps_idle_ || prefixes->write_policy != WritePolicy::write_back);
  // A level that is smaller than an entry is left out.
  std::vector<PrefixLevel> levels = prefixes->levels;
  for (PrefixLevel& level : levels) {
    TS_EXPECTS(level.names == 1 || (prefixes->write_policy != WritePolicy::write_back &&
                                    !parts_->has_windows() && parts_->state_blocks() == 0),
               level.names);
    if (level.blocks < parts_->largest() * level.names) level.blocks = 0;
  }
  PrefixLevel pool(blocks, prefixes->eviction);
  pool.ttl = prefixes->ttl;
  if (prefixes->pauses) pauses_.emplace(*prefixes->pauses);
  if (prefixes->write_policy == WritePolicy::write_back) {
    cache_.emplace(levels, pool);
    return;
  }
  if (prefixes->write_policy == WritePolicy::write_through_selective) stored_from_use_ = 2;
  cache_.emplace(std::vector<PrefixLevel>{}, pool);
  copies_.emplace(levels);
  nearest_size_ = copies_->nearest_size();
}

// All cost what the last one does: who lost the first one would have to compute that, too.
PrefixEntries KvPool::entries_of(const PrefixPins& prefix) const {
  PrefixEntries out;
  const auto last = static_cast<double>(prefix.leading.size() - 1);
  const double cost = 1 + cost_growth_ * std::max(0.0, last);
  if (parts_->whole_blocks() > 0)
    for (std::int64_t k = prefix.before; k < prefix.leading.size(); ++k)
      out.push_back(whole_of(prefix.leading, k));
  for (const WindowPart& part : prefix.window) out.push_back(parts_->entry(part));
  for (PrefixEntry& entry : out) entry.cost = cost;
  return out;
}

std::int64_t KvPool::blocks_of(const PrefixPins& prefix) const {
  if (!parts_) return 0;
  std::int64_t sum = parts_->whole_blocks() * (prefix.leading.size() - prefix.before);
  for (const WindowPart& part : prefix.window) sum += part.blocks;
  return sum;
}

bool KvPool::holds(const PrefixEntry& entry, std::int64_t level) const {
  if (level > 0 && copies_) return copies_->holds(entry, level);
  return cache_->level_of(entry) == level;
}

std::optional<std::int64_t> KvPool::level_of(const PrefixEntry& entry) const {
  if (const auto level = cache_->level_of(entry)) {
    const auto at = static_cast<std::size_t>(*level);
    if (at < passed_.size() && passed_[at] != 0) return std::nullopt;
    return level;
  }
  if (copies_)
    if (const std::int64_t level = copies_->level_of(entry, passed_); level > 0) return level;
  return std::nullopt;
}

std::int64_t KvPool::found_anywhere(LeadingNames names) {
  const std::vector<char> passed = std::exchange(passed_, {});
  const std::int64_t entries = find(names).entries;
  passed_ = passed;
  return entries;
}

// Entries that are to be stored are pinned, so that they are not evicted before.
void KvPool::write_through(std::span<const PrefixEntry> entries, LeadingNames prompt) {
  if (!copies_) return;
  const PrefixEntries wanted = want(entries, prompt);
  cache_->hold(wanted);
  storing_ += tiersim::blocks_of(wanted);
}

std::optional<PrefixCopies::Store> KvPool::next_store(std::int64_t level) {
  return copies_ ? copies_->next(level) : std::nullopt;
}

void KvPool::stored(const PrefixCopies::Store& store) {
  copies_->stored(store);
  if (store.from > 0) return;
  PrefixEntries pooled;
  for (const PrefixEntry& block : store.entries)
    std::ranges::move(take_members(block), std::back_inserter(pooled));
  cache_->release(pooled);
  storing_ -= tiersim::blocks_of(pooled);
  if (!discarded_.empty()) {
    PrefixEntries gone;
    for (const PrefixEntry& entry : pooled)
      if (discarded_.contains(entry) && stores_of(entry) == 0) {
        discarded_.erase(entry);
        gone.push_back(entry);
      }
    cache_->leave(gone);  // unless another sequence pins it by now
  }
  drop_idle();
}

// Nothing is copied: under write-through the lower levels have what they want of it.
void KvPool::drop_idle() {
  if (!keeps_idle_) cache_->evict(cache_->evictable());
}

// Evicts as many blocks as the pool is over its size.
void KvPool::make_room(std::vector<BlockMove>& moves) {
  if (!cache_) return;
  const std::int64_t over = own_ + cache_->pooled() - blocks_;
  if (over <= 0) return;
  append_stores(cache_->evict(over), 0, moves);
}

// Appends the stores of entries that left `from` for the levels below. Each level that was written
// to got its entries from the next nearer level with writes; levels without capacity are skipped.
void KvPool::append_stores(const PrefixMoves& moved, std::int64_t from,
                           std::vector<BlockMove>& moves) {
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

KvPool::Found KvPool::find(LeadingNames names) const {
  Found out;
  if (!cache_) return out;
  const auto is_whole = [&](std::int64_t index) {
    return parts_->whole_blocks() == 0 || level_of(whole_of(names, index)).has_value();
  };
  while (out.matched < names.size() && is_whole(out.matched)) ++out.matched;
  out.entries = out.matched;
  while (out.entries > 0) {
    const std::int64_t most = reachable(names.first(out.entries).names);
    if (most == out.entries) break;
    out.entries = most;
  }
  const WindowParts needed = window(names.first(out.entries));
  const PrefixEntries pins = entries_of({names.first(out.entries), needed});
  for (const PrefixEntry& entry : pins)
    if (level_of(entry).value_or(0) > 0) out.below += entry.blocks;
  out.idle = cache_->idle(pins);
  return out;
}

KvPool::Load KvPool::load_of(LeadingNames names) const {
  Load out{.from = {0}};
  const auto lies_in = [&](const PrefixEntry& entry) {
    const auto level = static_cast<std::size_t>(level_of(entry).value_or(0));
    if (level >= out.from.size()) out.from.resize(level + 1);
    if (level > 0) out.from[level] += entry.blocks;
    return level;
  };
  bool in_pool = true;
  if (parts_->whole_blocks() > 0) {
    for (std::int64_t k = 0; k < names.size(); ++k) {
      in_pool = lies_in(whole_of(names, k)) == 0 && in_pool;
      out.pooled += in_pool ? 1 : 0;
    }
  }
  for (const WindowPart& part : window(names)) lies_in(parts_->entry(part));
  if (parts_->state_blocks() > 0 && names.size() > 0) lies_in(parts_->state(names.names.back()));
  return out;
}

FoundIn KvPool::found_in(LeadingNames names) const {
  FoundIn out{};
  const auto place = [&](const PrefixEntry& entry) {
    const auto level = static_cast<std::size_t>(level_of(entry).value_or(0));
    return std::min(level, out.size() - 1);
  };
  if (parts_->whole_blocks() > 0) {
    for (std::int64_t k = 0; k < names.size(); ++k) ++out[place(whole_of(names, k))];
    return out;
  }
  std::size_t lowest = 0;
  for (const WindowPart& part : window(names))
    lowest = std::max(lowest, place(parts_->entry(part)));
  if (parts_->state_blocks() > 0 && names.size() > 0)
    lowest = std::max(lowest, place(parts_->state(names.names.back())));
  out[lowest] = static_cast<std::int32_t>(names.size());
  return out;
}

PrefixEntries KvPool::pin(const PrefixPins& prefix, std::vector<BlockMove>& moves) {
  PrefixEntries loads;
  if (prefix.names().empty()) return loads;
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
  for (const PrefixEntry& entry : pins) {
    levels.push_back(read(entry));
    discarded_.erase(entry);  // somebody uses it again
  }
  cache_->load(pins);
  if (copies_) copies_->touch(pins);
  if (parts_->state_blocks() > 0) {
    const PrefixEntry state = parts_->state(prefix.names().back());
    if (read(state) == 0) moves.push_back({MoveKind::state_load, state.blocks, 0, 0});
    if (cache_->level_of(state)) cache_->touch(state);
    if (copies_) copies_->touch({&state, 1});
  }
  make_room(moves);
  for (std::size_t level = 1; level < from.size(); ++level)
    if (from[level] > 0)
      moves.push_back({MoveKind::prefix_load, from[level], static_cast<std::int64_t>(level), 0});
  PrefixEntries pooled;
  for (std::size_t k = 0; k < pins.size(); ++k) {
    if (levels[k] > 0)
      loads.push_back(pins[k]);
    else if (cache_->loading({&pins[k], 1}) == 0)
      pooled.push_back(pins[k]);
  }
  // The copies of these entries below may have been evicted, so that they are stored again. A store
  // that finds no room does not stop a smaller one after it.
  if (nearest_size_ > 0) write_through(pooled, prefix.leading);
  for (const PrefixEntry& entry : pooled)
    if (nearest_size_ == 0) write_through({&entry, 1}, prefix.leading);
  TS_ENSURES(used() <= blocks_, used(), blocks_);
  return loads;
}

bool KvPool::is_loading(const PrefixPins& prefix) const {
  if (!cache_ || prefix.names().empty()) return false;
  if (cache_->loading(entries_of(prefix)) > 0) return true;
  if (parts_->state_blocks() == 0) return false;
  const PrefixEntry state = parts_->state(prefix.names().back());  // which nobody pins
  return cache_->loading({&state, 1}) > 0;
}

PrefixEntries KvPool::prefetch(LeadingNames names, std::int64_t room,
                               std::vector<BlockMove>& moves) {
  PrefixEntries loads;
  if (names.size() == 0) return loads;
  PrefixEntries all = entries_of({names, window(names)});
  if (parts_->state_blocks() > 0) all.push_back(parts_->state(names.names.back()));
  room -= cache_->idle(all);  // these stay
  if (!copies_) room = std::min(room, blocks_ - occupied());
  PrefixEntries pooled;
  std::vector<std::int64_t> from;  // blocks, by level
  for (const PrefixEntry& entry : all) {
    const auto level = static_cast<std::size_t>(level_of(entry).value_or(0));
    if (level == 0) {
      if (cache_->idle({&entry, 1}) > 0) pooled.push_back(entry);
      continue;
    }
    if (entry.blocks > room) break;  // what follows is of no use without it
    room -= entry.blocks;
    if (level >= from.size()) from.resize(level + 1);
    from[level] += entry.blocks;
    loads.push_back(entry);
  }
  if (loads.empty()) return loads;
  cache_->hold(pooled);
  cache_->fetch(loads);
  prefetching_ += tiersim::blocks_of(loads);
  make_room(moves);
  cache_->release(pooled);
  for (std::size_t level = 1; level < from.size(); ++level)
    if (from[level] > 0)
      moves.push_back({MoveKind::prefetch, from[level], static_cast<std::int64_t>(level), 0});
  TS_ENSURES(used() <= blocks_, used(), blocks_);
  return loads;
}

std::vector<PrefixCopies::Store> KvPool::raise(LeadingNames names) {
  TS_EXPECTS(copies_.has_value());
  if (names.size() == 0) return {};
  PrefixEntries all = entries_of({names, window(names)});
  if (parts_->state_blocks() > 0) all.push_back(parts_->state(names.names.back()));
  std::erase_if(all, [&](const PrefixEntry& entry) { return level_of(entry) == 0; });
  return copies_->raise(all, passed_, names);
}

void KvPool::prefetched(std::span<const PrefixEntry> entries) {
  prefetching_ -= tiersim::blocks_of(entries);
  arrived(entries);
  cache_->release(entries);
}

void KvPool::arrived(std::span<const PrefixEntry> loads, LeadingNames prompt) {
  if (loads.empty()) return;
  cache_->arrived(loads);
  write_through(loads, prompt);
  if (copies_) copies_->give_up(loads);
}

// Another sequence's copy stays where it made the same entry first. An entry that another one is
// loading counts as arrived.
void KvPool::share(const PrefixPins& prefix) {
  const PrefixEntries entries = entries_of(prefix);
  give(tiersim::blocks_of(entries));
  cache_->use(entries);
  arrived(entries, prefix.leading);
  TS_ENSURES(used() <= blocks_, used(), blocks_);
}

void KvPool::release(const PrefixPins& prefix) {
  if (!cache_) return;
  const PrefixEntries entries = entries_of(prefix);
  if (!entries.empty()) cache_->release(entries);
  if (copies_) copies_->settle(entries);
  drop_idle();
}

void KvPool::advance(SimTime now, std::vector<BlockMove>& moves) {
  if (!cache_) return;
  now_ = now;
  if (pauses_)
    while (const auto ended = pauses_->take_ended(now)) end_pause(*ended);
  if (copies_) copies_->advance(now);
  const std::int64_t levels = cache_->levels();
  // From the last level on, so that what comes from above lives there from now on.
  for (std::int64_t level = levels; level-- > 0;)
    append_stores(cache_->expire(level, now), level, moves);
}

void KvPool::end_pause(const PrefixEntries& entries) {
  cache_->release(entries);
  drop_idle();
}

void KvPool::pause(const SessionPlace& place, const PrefixPins& prefix) {
  if (!cache_) return;
  resume(place);  // an earlier request of the session, if its next one went to another replica
  PrefixEntries entries = entries_of(prefix);
  const PrefixEntries used = entries;
  if (parts_->state_blocks() > 0 && !prefix.names().empty()) {
    const PrefixEntry state = parts_->state(prefix.names().back());  // a copy, which nobody pins
    if (cache_->level_of(state) == 0 && cache_->loading({&state, 1}) == 0) entries.push_back(state);
  }
  if (!pauses_ || !pauses_->keep(place, entries, now_)) return release(prefix);
  cache_->hold(std::span(entries).subspan(used.size()));
  if (copies_) copies_->settle(used);
}

void KvPool::resume(const SessionPlace& place) {
  if (!pauses_) return;
  if (const auto entries = pauses_->take(place)) end_pause(*entries);
}

bool KvPool::end_a_pause() {
  if (!pauses_) return false;
  const auto entries = pauses_->take_first();
  if (entries) end_pause(*entries);
  return entries.has_value();
}

void KvPool::discard(const PrefixPins& prefix, std::vector<BlockMove>& moves) {
  if (!cache_) return;
  release(prefix);
  PrefixEntries entries = entries_of(prefix);
  if (parts_->state_blocks() > 0 && !prefix.names().empty())
    entries.push_back(parts_->state(prefix.names().back()));
  append_stores(cache_->leave(entries), 0, moves);
  if (!copies_) return;
  for (const PrefixEntry& entry : entries)
    if (const std::int64_t stores = stores_of(entry); stores > 0 && cache_->pins(entry) == stores)
      discarded_.insert(entry);
}

std::int64_t KvPool::keep(std::span<const PrefixEntry> entries, std::int64_t room,
                          std::vector<BlockMove>& moves) {
  PrefixEntries fresh;
  PrefixEntries used;
  for (const PrefixEntry& entry : entries) {
    if (entry.blocks > room) continue;
    const bool pooled = cache_->level_of(entry) == 0;
    if (pooled && cache_->loading({&entry, 1}) > 0) continue;  // it comes by itself
    // One that is in the pool may now be stored, since another prompt has used it.
    if (pooled && cache_->uses(entry) != stored_from_use_) continue;
    room -= entry.blocks;
    (pooled ? used : fresh).push_back(entry);
  }
  cache_->use(fresh);
  make_room(moves);
  for (const PrefixEntry& entry : fresh) cache_->release({&entry, 1});
  // Stretches of window layers and states are blocks of the lower levels by themselves.
  write_through(fresh, std::span<const std::uint64_t>{});
  write_through(used, std::span<const std::uint64_t>{});
  if (copies_) copies_->give_up(fresh);
  drop_idle();
  return static_cast<std::int64_t>(fresh.size());
}

}  // namespace tiersim
