#include "workloads/serving/prefix_copies.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {

std::shared_ptr<BlockCache> make_store(const PrefixLevel& level) {
  if (level.blocks == 0) return nullptr;
  return std::make_shared<BlockCache>(name_of(level.eviction), level.blocks, level.ttl);
}

PrefixCopies::PrefixCopies(const std::vector<PrefixLevel>& levels) : blocks_(levels) {
  for (const PrefixLevel& level : levels) {
    TS_EXPECTS(level.blocks >= 0, level.blocks);
    levels_.emplace_back();
    if (level.blocks > 0) levels_.back().cache = level.shared ? level.shared : make_store(level);
    levels_.back().most_coming = level.queue;
    levels_.back().exclusive = level.exclusive;
    levels_.back().size = blocks_.size_of(level.names);
  }
  // An exclusive level receives the blocks that leave the level above one at a time. It cannot put
  // longer blocks together from them, so the blocks of all levels must have the same size.
  if (std::ranges::any_of(levels, &PrefixLevel::exclusive))
    TS_EXPECTS(std::ranges::all_of(
        levels_, [this](const Level& level) { return level.size == levels_.front().size; }));
}

std::size_t PrefixCopies::nearest_size() const {
  const std::int64_t first = below(0);
  return first == 0 ? 0 : at(first).size;
}

bool PrefixCopies::holds(const PrefixEntry& entry, std::int64_t level) const {
  const Level& of = at(level);
  return of.cache && TierBlocks::has(entry, of.size) &&
         of.cache->contains(TierBlocks::key(entry, of.size));
}

std::int64_t PrefixCopies::below(std::int64_t level) const {
  for (std::int64_t next = level + 1; next <= levels(); ++next)
    if (at(next).cache) return next;
  return 0;
}

std::int64_t PrefixCopies::level_of(const PrefixEntry& entry, std::span<const char> passed) const {
  const auto passes = [&](std::int64_t level) {
    return static_cast<std::size_t>(level) < passed.size() &&
           passed[static_cast<std::size_t>(level)] != 0;
  };
  for (std::int64_t level = 1; level <= levels(); ++level)
    if (!passes(level) && holds(entry, level)) return level;
  return 0;
}

std::int64_t PrefixCopies::above(std::int64_t level) const {
  while (--level > 0)
    if (at(level).cache) return level;
  return 0;
}

// True where the next level gets what leaves this one.
bool PrefixCopies::feeds_exclusive(std::int64_t level) const {
  const std::int64_t next = below(level);
  return level > 0 && next > 0 && at(next).exclusive;
}

// These keys have left the level, the first one first.
void PrefixCopies::hand_down(std::int64_t level, std::span<const std::uint64_t> left) {
  PrefixEntries entries;
  for (std::size_t k = left.size(); k-- > 0;) {  // in a store the last one comes first
    const auto name = at(level).names.find(left[k]);
    entries.push_back(name->second);
    at(level).names.erase(name);
  }
  queue(below(level), entries);
}

void PrefixCopies::advance(SimTime now) {
  for (std::int64_t level = 1; level <= levels(); ++level) {
    if (!at(level).cache) continue;
    std::vector<std::uint64_t> left;
    at(level).cache->advance(now, &left);
    if (feeds_exclusive(level)) hand_down(level, left);
  }
}

void PrefixCopies::give_up(std::span<const PrefixEntry> entries) {
  for (std::int64_t level = 1; level <= levels(); ++level) {
    Level& of = at(level);
    if (!of.exclusive || !of.cache) continue;
    const std::int64_t nearer = above(level);
    if (nearer == 0) continue;
    for (const PrefixEntry& entry : blocks_.blocks(entries, of.size)) {
      if (!of.cache->contains(entry.key()) || at(nearer).lacks(entry)) continue;
      of.cache->drop(entry.key());
      of.names.erase(entry.key());
    }
  }
}

// Calls `use` for each of these blocks that the level holds, beginning with the last one.
template <class Use>
void PrefixCopies::for_each_held(const Level& level, std::span<const PrefixEntry> entries,
                                 Use use) const {
  const PrefixEntries longer =
      level.size > 0 ? blocks_.blocks(entries, level.size) : PrefixEntries{};
  if (level.size > 0) entries = longer;
  for (std::size_t k = entries.size(); k-- > 0;)
    if (level.cache->contains(entries[k].key())) use(entries[k].visit());
}

void PrefixCopies::touch(std::span<const PrefixEntry> entries) {
  for (Level& level : levels_) {
    if (!level.cache) continue;
    for_each_held(level, entries, [&](const Visit& visit) { level.cache->touch(visit); });
  }
}

void PrefixCopies::settle(std::span<const PrefixEntry> entries) {
  for (Level& level : levels_) {
    if (!level.cache) continue;
    for_each_held(level, entries, [&](const Visit& visit) { level.cache->settle(visit); });
  }
}

PrefixEntries PrefixCopies::queue(std::int64_t level, std::span<const PrefixEntry> entries) {
  PrefixEntries out;
  if (level == 0) return out;
  Level& to = at(level);
  for (const PrefixEntry& entry : entries) {
    if (!to.lacks(entry)) continue;
    const bool waits = to.coming_blocks > 0;  // an entry may be larger than the limit
    if (waits && to.most_coming && to.coming_blocks + entry.blocks > *to.most_coming) break;
    to.coming_blocks += entry.blocks;
    out.push_back(entry);
  }
  to.waiting.insert(to.waiting.end(), out.begin(), out.end());
  to.coming.insert(out.begin(), out.end());
  return out;
}

// True if the level holds the block, or if the block is on its way to the level. It may still be
// evicted on that way.
bool PrefixCopies::will_have(std::int64_t level, const PrefixEntry& block) const {
  const Level& of = at(level);
  if (!of.lacks(block)) return true;
  const auto awaits = [&block](const Level& at_level) {
    return std::ranges::find(at_level.incomplete, block, &Incomplete::block) !=
           at_level.incomplete.end();
  };
  if (awaits(of)) return true;
  // A level passes each stored block on to the next level if that has blocks of the same size. So a
  // block that is on its way to such a level above also reaches this one.
  for (std::int64_t up = above(level); up > 0 && at(up).size == of.size; up = above(up))
    if (at(up).coming.contains(block) || awaits(at(up))) return true;
  return false;
}

// The blocks in `coming` are on their way to the nearest level. This looks for the longer blocks of
// further levels that contain one of them, and records each of which the level above holds every
// part, or will hold it.
void PrefixCopies::await(std::span<const PrefixEntry> coming, LeadingNames prompt) {
  if (coming.empty() || !blocks_.are_longer()) return;
  for (std::int64_t level = below(below(0)); level > 0; level = below(level)) {
    Level& to = at(level);
    const std::int64_t nearer = above(level);
    const std::size_t size = at(nearer).size;
    if (to.size == size) continue;
    for (const PrefixEntry& block : blocks_.blocks(coming, to.size)) {
      if (will_have(level, block)) continue;
      PrefixEntries members = blocks_.members(block, prompt, size);
      const auto comes = [&](const PrefixEntry& member) { return will_have(nearer, member); };
      if (!members.empty() && std::ranges::all_of(members, comes))
        to.incomplete.push_back({block, std::move(members)});
    }
  }
}

// The level `above` has received blocks. Each recorded longer block of a level below it is queued
// for its copy if all of its parts are there now, and is forgotten if a part was evicted.
void PrefixCopies::copy_complete(std::int64_t above) {
  for (std::int64_t level = below(above); level > 0; level = below(level)) {
    Level& to = at(level);
    const std::int64_t nearer = this->above(level);
    PrefixEntries complete;
    std::erase_if(to.incomplete, [&](const Incomplete& of) {
      const bool here = std::ranges::all_of(
          of.members, [&](const PrefixEntry& m) { return at(nearer).cache->contains(m.key()); });
      if (here) complete.push_back(of.block);
      return here || !std::ranges::all_of(
                         of.members, [&](const PrefixEntry& m) { return will_have(nearer, m); });
    });
    queue(level, complete);
  }
}

std::vector<PrefixCopies::Store> PrefixCopies::raise(std::span<const PrefixEntry> parts,
                                                     std::span<const char> passed,
                                                     LeadingNames prompt) {
  std::vector<Store> out;
  const std::int64_t first = below(0);
  if (first == 0) return out;
  Level& to = at(first);
  const PrefixEntries entries = blocks_.blocks(parts, to.size);
  std::int64_t room = to.cache->capacity() - to.coming_blocks;
  touch(entries);  // so that what the level has of them does not leave it for the rest
  for (const PrefixEntry& entry : entries)
    if (to.cache->contains(entry.key())) room -= entry.blocks;
  for (const PrefixEntry& entry : entries) {
    if (!to.lacks(entry)) continue;
    const std::int64_t from = level_of(entry, passed);
    const bool waits = to.coming_blocks > 0;
    const bool full = waits && to.most_coming && to.coming_blocks + entry.blocks > *to.most_coming;
    if (from == 0 || full || entry.blocks > room) break;
    room -= entry.blocks;
    to.coming_blocks += entry.blocks;
    to.coming.insert(entry);
    raised_.insert(entry);
    auto store = std::ranges::find(out, from, &Store::from);
    if (store == out.end()) store = out.insert(out.end(), Store{from, first});
    store->entries.push_back(entry);
  }
  for (const Store& store : out) await(store.entries, prompt);
  return out;
}

PrefixEntries PrefixCopies::want(std::span<const PrefixEntry> entries, LeadingNames prompt) {
  PrefixEntries out = queue(below(0), entries);
  await(out, prompt);
  return out;
}

std::optional<PrefixCopies::Store> PrefixCopies::next(std::int64_t level) {
  Level& to = at(level);
  if (to.waiting.empty()) return std::nullopt;
  std::int64_t from = level - 1;
  while (from > 0 && !at(from).cache) --from;
  return Store{from, level, std::exchange(to.waiting, {})};
}

void PrefixCopies::stored(const Store& store) {
  Level& to = at(store.to);
  const bool feeds = feeds_exclusive(store.to);
  std::vector<std::uint64_t> left;
  for (std::size_t k = store.entries.size(); k-- > 0;) {
    const PrefixEntry& entry = store.entries[k];
    TS_EXPECTS(to.coming.contains(entry), entry.name, entry.part);
    to.coming.erase(entry);
    if (store.from > 0) raised_.erase(entry);
    to.coming_blocks -= entry.blocks;
    // Another pool may have stored it in a shared level meanwhile.
    if (to.cache->contains(entry.key())) continue;
    // The level above may have got it again meanwhile.
    if (to.exclusive && store.from > 0 && at(store.from).cache->contains(entry.key())) continue;
    to.cache->add(entry.visit(), &left);
    if (feeds && to.cache->contains(entry.key())) to.names.emplace(entry.key(), entry);
  }
  if (!feeds) {
    const std::int64_t next = below(store.to);
    if (next > 0 && at(next).size == to.size) queue(next, store.entries);
    copy_complete(store.to);
    return;
  }
  give_up_below(store);
  hand_down(store.to, left);
}

// An exclusive level below has none of what the level has got.
void PrefixCopies::give_up_below(const Store& store) {
  Level& next = at(below(store.to));
  for (const PrefixEntry& entry : store.entries) {
    if (!at(store.to).cache->contains(entry.key()) || !next.cache->contains(entry.key())) continue;
    next.cache->drop(entry.key());
    next.names.erase(entry.key());
  }
}

std::int64_t PrefixCopies::held(std::int64_t level) const {
  TS_EXPECTS(level >= 1 && level <= levels(), level, levels());
  return at(level).cache ? at(level).cache->size() : 0;
}

}  // namespace tiersim
