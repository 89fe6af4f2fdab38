#include "workloads/serving/prefix_cache.hpp"

#include <algorithm>
#include <limits>

#include "sim/base/check.hpp"

namespace tiersim {

PrefixCache::PrefixCache(const std::vector<PrefixLevel>& below, const PrefixLevel& pool) {
  const auto add = [&](const PrefixLevel& level) {
    TS_EXPECTS(level.blocks >= 0, level.blocks);
    const std::int64_t policy_size = std::max<std::int64_t>(1, level.blocks);
    levels_.push_back(
        {.capacity = level.blocks, .policy = make_eviction(name_of(level.eviction), policy_size)});
    if (level.ttl) levels_.back().last_uses.emplace(*level.ttl);
  };
  add(pool);
  for (const PrefixLevel& level : below) add(level);
}

const PrefixCache::Entry* PrefixCache::lookup(const PrefixEntry& entry) const {
  const Place place = index_.find(entry.key());
  return place == kNowhere ? nullptr : &entries_[static_cast<std::size_t>(place)];
}

Place PrefixCache::place_of(const PrefixEntry& entry) const {
  const Place place = index_.find(entry.key());
  TS_EXPECTS(place != kNowhere, entry.name, entry.part);
  return place;
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

void PrefixCache::fetch(std::span<const PrefixEntry> prefix) {
  for (const PrefixEntry& entry : prefix) {
    pin(entry, true);
    --at(place_of(entry)).uses;
  }
}

void PrefixCache::hold(std::span<const PrefixEntry> entries) {
  for (const PrefixEntry& each : entries) {
    const Place place = place_of(each);
    Entry& entry = at(place);
    TS_EXPECTS(entry.level == 0, each.name, each.part);
    if (entry.pins++ > 0) continue;
    levels_.front().policy->hold(place);
    cease(place);
    levels_.front().size -= entry.of.blocks;
    pinned_ += entry.of.blocks;
  }
}

void PrefixCache::arrived(std::span<const PrefixEntry> prefix) {
  for (const PrefixEntry& entry : prefix) at(place_of(entry)).loading = false;
}

void PrefixCache::release(std::span<const PrefixEntry> prefix) {
  // Last block first: of equals the one that is released first is evicted first.
  for (std::size_t k = prefix.size(); k-- > 0;) {
    const Place place = place_of(prefix[k]);
    Entry& entry = at(place);
    TS_EXPECTS(entry.pins > 0, entry.of.name);
    TS_EXPECTS(!entry.loading, entry.of.name);
    entry.of.cost = std::max(entry.of.cost, prefix[k].cost);  // that of the whole prompt
    if (--entry.pins > 0) continue;
    pinned_ -= entry.of.blocks;
    levels_.front().size += entry.of.blocks;
    renew(place);
    EvictionPolicy& policy = *levels_.front().policy;
    if (entry.is_known) {
      policy.release(place, entry.of.visit());
      continue;
    }
    // Only now, so that of a prompt that was computed in pieces the last block is still the first.
    policy.insert(place, entry.of.visit());
    for (; entry.hits > 0; --entry.hits) policy.hit(place, entry.of.visit());
    entry.is_known = true;
  }
}

void PrefixCache::touch(const PrefixEntry& entry) {
  const Place place = place_of(entry);
  ++at(place).uses;
  if (at(place).pins > 0) return;
  level_of(at(place)).policy->hit(place, entry.visit());
  renew(place);
}

PrefixMoves PrefixCache::expire(std::int64_t level, SimTime now) {
  TS_EXPECTS(now >= now_);
  now_ = now;
  Level& from = levels_[static_cast<std::size_t>(level)];
  if (!from.last_uses) return {};
  PrefixMoves moves = no_moves();
  for (Place place = from.last_uses->ended(now); place != kNowhere;
       place = from.last_uses->ended(now))
    drop_idle(place, moves);
  return moves;
}

PrefixMoves PrefixCache::leave(std::span<const PrefixEntry> entries) {
  PrefixMoves moves = no_moves();
  for (std::size_t k = entries.size(); k-- > 0;) {
    const Place place = index_.find(entries[k].key());
    if (place != kNowhere && at(place).level == 0 && at(place).pins == 0) drop_idle(place, moves);
  }
  return moves;
}

// An entry that nobody pins leaves its level.
void PrefixCache::drop_idle(Place place, PrefixMoves& moves) {
  Level& from = level_of(at(place));
  const std::int32_t level = at(place).level;
  from.policy->remove(place);
  cease(place);
  from.size -= at(place).of.blocks;
  if (level == 0) moves.freed += at(place).of.blocks;
  sink(place, level + 1, moves);
}

PrefixMoves PrefixCache::evict(std::int64_t blocks) {
  TS_EXPECTS(blocks >= 0 && blocks <= evictable(), blocks, evictable());
  PrefixMoves moves = no_moves();
  const std::int64_t before = levels_.front().size;
  while (moves.freed < blocks) {
    const bool any = evict_from(0, nullptr, moves);
    TS_INVARIANT(any, moves.freed, blocks);
    moves.freed = before - levels_.front().size;
  }
  return moves;
}

std::int64_t PrefixCache::pins(const PrefixEntry& entry) const {
  const Entry* found = lookup(entry);
  return found == nullptr ? 0 : found->pins;
}

std::int64_t PrefixCache::uses(const PrefixEntry& entry) const {
  const Entry* found = lookup(entry);
  return found == nullptr ? 0 : found->uses;
}

std::int64_t PrefixCache::held(std::int64_t level) const {
  TS_EXPECTS(level >= 1 && level < static_cast<std::int64_t>(levels_.size()), level);
  return levels_[static_cast<std::size_t>(level)].size;
}

std::int64_t PrefixCache::pin(const PrefixEntry& of, bool loaded) {
  const Place known = index_.find(of.key());
  EvictionPolicy& policy = *levels_.front().policy;
  if (known != kNowhere && at(known).level == 0) {
    Entry& entry = at(known);
    ++entry.uses;
    if (entry.is_known)
      policy.hit(known, of.visit());
    else
      ++entry.hits;
    if (entry.pins++ > 0) return 0;
    policy.hold(known);
    cease(known);
    levels_.front().size -= entry.of.blocks;
    pinned_ += entry.of.blocks;
    entry.loading = false;
    return 0;
  }
  const Place place = known == kNowhere ? make(of) : known;
  Entry& entry = at(place);
  if (known != kNowhere) {
    level_of(entry).policy->remove(place);
    cease(place);
    level_of(entry).size -= entry.of.blocks;
  }
  entry.level = 0;
  entry.pins = 1;
  ++entry.uses;
  entry.loading = loaded;
  entry.is_known = false;
  entry.hits = 0;
  pinned_ += entry.of.blocks;
  return entry.of.blocks;
}

Place PrefixCache::make(const PrefixEntry& entry) {
  TS_EXPECTS(entry.blocks > 0, entry.name, entry.blocks);
  if (spare_.empty()) {
    TS_INVARIANT(entries_.size() < static_cast<std::size_t>(std::numeric_limits<Place>::max()));
    spare_.push_back(static_cast<Place>(entries_.size()));
    entries_.push_back({.of = entry});
  }
  const Place place = spare_.back();
  spare_.pop_back();
  at(place) = {.of = entry};
  index_.insert(entry.key(), place);
  return place;
}

// What leaves the level goes to those below it. False where nothing may leave.
bool PrefixCache::evict_from(std::int32_t level, const Visit* incoming, PrefixMoves& moves) {
  Level& from = levels_[static_cast<std::size_t>(level)];
  std::vector<Place> leaving;
  from.policy->evict(incoming, leaving);
  for (const Place place : leaving) {
    cease(place);
    from.size -= at(place).of.blocks;
    sink(place, level + 1, moves);
  }
  return !leaving.empty();
}

// The entry displaces as many of the level as its blocks need.
void PrefixCache::sink(Place place, std::int32_t level, PrefixMoves& moves) {
  const Visit visit = at(place).of.visit();
  const auto at_level = [&] { return static_cast<std::size_t>(level); };
  while (at_level() < levels_.size() && levels_[at_level()].capacity < visit.blocks) ++level;
  if (at_level() == levels_.size()) {
    moves.gone += visit.blocks;
    index_.erase(visit.key);
    spare_.push_back(place);
    return;
  }
  while (levels_[at_level()].size + visit.blocks > levels_[at_level()].capacity) {
    const bool any = evict_from(level, &visit, moves);
    TS_INVARIANT(any, level);
  }
  Level& to = levels_[at_level()];
  at(place).level = level;
  at(place).is_known = true;
  to.policy->insert(place, visit);
  to.size += visit.blocks;
  renew(place);
  moves.written[at_level()] += visit.blocks;
}

}  // namespace tiersim
