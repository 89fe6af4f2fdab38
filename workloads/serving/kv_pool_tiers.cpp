// The stores of a pool into the nearest level below it, whose blocks may be longer than named ones.
#include <algorithm>
#include <iterator>
#include <utility>

#include "workloads/serving/kv_pool.hpp"

namespace tiersim {

// The part of a named block of the layers that keep everything.
PrefixEntry KvPool::whole_of(LeadingNames prompt, std::int64_t index) const {
  PrefixEntry out = parts_->whole(prompt.prompt[static_cast<std::size_t>(index)]);
  if (copies_ && copies_->blocks().are_longer()) copies_->blocks().set_longer(out, prompt, index);
  return out;
}

// Returns the pool's entries that now begin to wait for a copy to the nearest level. A longer block
// is copied once the pool holds all of its named blocks and some sequence uses each of them. Idle
// ones would be pinned by the copy, although admission counts them as free room.
PrefixEntries KvPool::want(std::span<const PrefixEntry> entries, LeadingNames prompt) {
  const auto may_go = [this](const PrefixEntry& entry) {
    return cache_->uses(entry) >= stored_from_use_;
  };
  if (nearest_size_ == 0) {
    PrefixEntries used;
    std::ranges::copy_if(entries, std::back_inserter(used), may_go);
    return copies_->want(used, prompt);
  }
  PrefixEntries out;
  for (const PrefixEntry& block : copies_->blocks().blocks(entries, nearest_size_)) {
    PrefixEntries members = copies_->blocks().members(block, prompt, 0);
    const auto is_used = [&](const PrefixEntry& member) {
      return cache_->level_of(member) == 0 && cache_->loading({&member, 1}) == 0 &&
             cache_->idle({&member, 1}) == 0 && may_go(member);
    };
    const bool complete = !members.empty() && std::ranges::all_of(members, is_used);
    if (!complete || copies_->want({&block, 1}, prompt).empty()) continue;
    out.insert(out.end(), members.begin(), members.end());
    for (const PrefixEntry& member : members) ++holds_[member.key()];
    members_.emplace(block.key(), std::move(members));
  }
  return out;
}

// How many copies to a lower level read the entry, which stays in the pool until they end.
std::int64_t KvPool::stores_of(const PrefixEntry& entry) const {
  if (nearest_size_ == 0) return copies_->is_coming(entry) ? 1 : 0;
  const auto found = holds_.find(entry.key());
  return found == holds_.end() ? 0 : found->second;
}

// The pool's entries that a lower block was stored from; they may leave the pool now.
PrefixEntries KvPool::take_members(const PrefixEntry& stored) {
  if (nearest_size_ == 0) return {stored};
  PrefixEntries out = std::move(members_.at(stored.key()));
  members_.erase(stored.key());
  for (const PrefixEntry& member : out)
    if (const auto held = holds_.find(member.key()); --held->second == 0) holds_.erase(held);
  return out;
}

}  // namespace tiersim
