#include "workloads/eviction/block_cache.hpp"

#include "sim/base/check.hpp"

namespace tiersim {

BlockCache::BlockCache(std::string_view policy, std::int64_t capacity,
                       std::optional<Duration> lifetime)
    : capacity_(capacity), policy_(make_eviction(policy, capacity)) {
  if (lifetime) last_uses_.emplace(*lifetime);
}

void BlockCache::advance(SimTime now, std::vector<std::uint64_t>* left) {
  TS_EXPECTS(now >= now_);
  now_ = now;
  if (!last_uses_) return;
  for (Place place = last_uses_->ended(now); place != kNowhere; place = last_uses_->ended(now)) {
    policy_->remove(place);
    if (left != nullptr) left->push_back(entries_[static_cast<std::size_t>(place)].key);
    forget(place);
  }
}

void BlockCache::drop(std::uint64_t key) {
  const Place place = index_.find(key);
  TS_EXPECTS(place != kNowhere, key);
  policy_->remove(place);
  forget(place);
}

// The policy knows it no more.
void BlockCache::forget(Place place) {
  const Entry& entry = entries_[static_cast<std::size_t>(place)];
  size_ -= entry.blocks;
  index_.erase(entry.key);
  if (last_uses_) last_uses_->leave(place);
  spare_.push_back(place);
}

std::int64_t BlockCache::look_up(std::span<const Visit> prompt) {
  found_.clear();
  std::int64_t hits = 0;
  for (const Visit& visit : prompt) {
    const Place place = index_.find(visit.key);
    if (place != kNowhere) {
      if (hits == static_cast<std::int64_t>(found_.size())) ++hits;
      policy_->hold(place);
    }
    found_.push_back(place);
  }
  for (std::size_t k = prompt.size(); k-- > 0;) {
    if (found_[k] == kNowhere) {
      add(prompt[k]);
    } else {
      policy_->hit(found_[k], prompt[k]);
      policy_->release(found_[k], prompt[k]);
      renew(found_[k]);
    }
  }
  return hits;
}

bool BlockCache::make_room(const Visit& visit, std::vector<std::uint64_t>* left) {
  if (visit.blocks > capacity_) return false;
  while (size_ + visit.blocks > capacity_) {
    if (!policy_->admits(visit)) return false;
    victims_.clear();
    policy_->evict(&visit, victims_);
    if (victims_.empty()) return false;
    for (const Place place : victims_) {
      if (left != nullptr) left->push_back(entries_[static_cast<std::size_t>(place)].key);
      forget(place);
    }
  }
  return true;
}

void BlockCache::add(const Visit& visit, std::vector<std::uint64_t>* left) {
  TS_EXPECTS(!contains(visit.key) && visit.blocks > 0, visit.key, visit.blocks);
  if (!make_room(visit, left)) return;
  if (spare_.empty()) {
    spare_.push_back(static_cast<Place>(entries_.size()));
    entries_.push_back({});
  }
  const Place place = spare_.back();
  spare_.pop_back();
  entries_[static_cast<std::size_t>(place)] = {visit.key, visit.blocks};
  index_.insert(visit.key, place);
  size_ += visit.blocks;
  policy_->insert(place, visit);
  renew(place);
}

}  // namespace tiersim
