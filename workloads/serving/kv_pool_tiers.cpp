// The blocks of a pool's lower levels, which may be longer than named ones: what a prompt's names
// are parts of, and what the pool stores of them.
#include <algorithm>
#include <iterator>
#include <utility>

#include "workloads/serving/kv_pool.hpp"

namespace tiersim {

// The part of a named block of the layers that keep everything.
PrefixEntry KvPool::whole_of(LeadingNames prompt, std::int64_t index) const {
  const auto name = [&](std::int64_t at) { return prompt.prompt[static_cast<std::size_t>(at)]; };
  PrefixEntry out = parts_->whole(name(index));
  if (tier_names_ == 1) return out;
  const std::int64_t end = (index / tier_names_ + 1) * tier_names_;
  out.fills_tier_block = end <= std::ssize(prompt.prompt);
  if (out.fills_tier_block) out.tier_name = name(end - 1);
  return out;
}

// The block of the lower levels that the pool's entry is a part of.
PrefixEntry KvPool::below_of(const PrefixEntry& entry) const {
  if (tier_names_ == 1) return entry;
  PrefixEntry out(entry.tier_name, entry.part, entry.blocks * tier_names_);
  out.cost = entry.cost * static_cast<double>(tier_names_);
  return out;
}

// The blocks of the lower levels that these entries, in the order of their prompt, are parts of.
// Each comes once, and only where the prompt fills it.
PrefixEntries KvPool::below_of(std::span<const PrefixEntry> entries) const {
  PrefixEntries out;
  for (const PrefixEntry& entry : entries)
    if (entry.fills_tier_block &&
        (out.empty() || out.back().name != entry.tier_name || tier_names_ == 1))
      out.push_back(below_of(entry));
  return out;
}

// The entries of the pool that begin to wait for the nearest level. A block of several names is
// stored once the pool has all of them.
PrefixEntries KvPool::want(std::span<const PrefixEntry> entries, LeadingNames prompt) {
  const auto may_go = [this](const PrefixEntry& entry) {
    return cache_->uses(entry) >= stored_from_use_;
  };
  if (tier_names_ == 1) {
    PrefixEntries used;
    std::ranges::copy_if(entries, std::back_inserter(used), may_go);
    return copies_->want(used);
  }
  const PrefixEntries blocks = below_of(entries);
  PrefixEntries out;
  std::int64_t end = tier_names_;
  for (const PrefixEntry& block : blocks) {
    while (end <= std::ssize(prompt.prompt) && whole_of(prompt, end - 1).name != block.name)
      end += tier_names_;
    if (end > std::ssize(prompt.prompt)) break;
    PrefixEntries members;
    for (std::int64_t k = end - tier_names_; k < end; ++k) members.push_back(whole_of(prompt, k));
    const bool complete = std::ranges::all_of(members, [&](const PrefixEntry& member) {
      return cache_->level_of(member) == 0 && cache_->loading({&member, 1}) == 0 && may_go(member);
    });
    if (!complete || copies_->want({&block, 1}).empty()) continue;
    out.insert(out.end(), members.begin(), members.end());
    for (const PrefixEntry& member : members) ++holds_[member.key()];
    members_.emplace(block.key(), std::move(members));
  }
  return out;
}

// How many copies to a lower level read the entry, which stays in the pool until they end.
std::int64_t KvPool::stores_of(const PrefixEntry& entry) const {
  if (tier_names_ == 1) return copies_->is_coming(entry) ? 1 : 0;
  const auto found = holds_.find(entry.key());
  return found == holds_.end() ? 0 : found->second;
}

// The pool's entries that a lower block was stored from; they may leave the pool now.
PrefixEntries KvPool::take_members(const PrefixEntry& stored) {
  if (tier_names_ == 1) return {stored};
  PrefixEntries out = std::move(members_.at(stored.key()));
  members_.erase(stored.key());
  for (const PrefixEntry& member : out)
    if (const auto held = holds_.find(member.key()); --held->second == 0) holds_.erase(held);
  return out;
}

}  // namespace tiersim
