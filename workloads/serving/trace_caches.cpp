#include "workloads/serving/trace_caches.hpp"

#include <unordered_map>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {

// each(capacity, policy) for the caches that need the future, or for those that do not.
template <class Each>
void TraceCaches::for_each(bool needs_future, Each each) const {
  for (std::size_t policy = 0; policy < what_.policies.size(); ++policy) {
    const EvictionKind* kind = eviction_library().find(what_.policies[policy]);
    TS_EXPECTS(kind != nullptr, what_.policies[policy]);
    for (std::size_t c = 0; c < what_.capacities.size(); ++c)
      if (kind->needs_future == needs_future) each(c, policy);
  }
}

TraceCaches::TraceCaches(const CachesOfTrace& caches) : what_(caches) {
  out_.found.assign(what_.capacities.size(), std::vector<std::int64_t>(what_.policies.size(), 0));
  for_each(false, [this](std::size_t c, std::size_t policy) {
    caches_.push_back({c, policy, BlockCache(what_.policies[policy], what_.capacities[c])});
  });
  for_each(true, [this](std::size_t, std::size_t) { keeps_names_ = true; });
}

void TraceCaches::look_up(std::span<const std::uint64_t> names) {
  ++out_.requests;
  out_.lookups += static_cast<std::int64_t>(names.size());
  if (keeps_names_) {
    names_.insert(names_.end(), names.begin(), names.end());
    ends_.push_back(static_cast<std::int64_t>(names_.size()));
  }
  visits_.clear();
  for (const std::uint64_t name : names) visits_.push_back({.key = name});
  for (Cache& each : caches_) out_.found[each.capacity][each.policy] += each.cache.look_up(visits_);
}

FoundInCaches TraceCaches::found() const {
  FoundInCaches out = out_;
  if (!keeps_names_) return out;
  // From the end on: the next prompt that has each block.
  std::vector<std::int64_t> next(names_.size());
  std::unordered_map<std::uint64_t, std::int64_t> coming;
  for (std::size_t prompt = ends_.size(); prompt-- > 0;) {
    const std::int64_t begin = prompt == 0 ? 0 : ends_[prompt - 1];
    for (auto at = static_cast<std::size_t>(begin); at < static_cast<std::size_t>(ends_[prompt]);
         ++at) {
      const auto [known, is_last] = coming.try_emplace(names_[at], Visit::kNever);
      next[at] = std::exchange(known->second, static_cast<std::int64_t>(prompt));
    }
  }
  for_each(true, [&](std::size_t c, std::size_t policy) {
    BlockCache cache(what_.policies[policy], what_.capacities[c]);
    std::vector<Visit> visits;
    std::size_t at = 0;
    for (const std::int64_t end : ends_) {
      visits.clear();
      for (; at < static_cast<std::size_t>(end); ++at)
        visits.push_back({.key = names_[at], .next = next[at]});
      out.found[c][policy] += cache.look_up(visits);
    }
  });
  return out;
}

}  // namespace tiersim
