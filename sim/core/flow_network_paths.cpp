// Groups: one for each path in use, found by the path; one for each flow with a cap, pooled.
#include "sim/core/flow_network_impl.hpp"

namespace tiersim {

using flow::Group;

bool FlowNetwork::Impl::same_path(const Group& group, std::span<const Hop> hops) const {
  if (group.hop_count != hops.size()) return false;
  for (std::size_t i = 0; i < hops.size(); ++i)
    if (hops_of_groups_[group.first_hop + i].link != hops[i].link.value()) return false;
  return true;
}

/// Where the path is in group_of_path_, or the free place where it belongs. The hash decides where
/// a group is stored and nothing else.
FlowNetwork::Impl::Index FlowNetwork::Impl::hash_slot(std::span<const Hop> hops) const {
  std::uint64_t hash = 0;
  for (const Hop& hop : hops) hash = (hash ^ hop.link.value()) * 0x9e37'79b9'7f4a'7c15U;
  const std::size_t mask = group_of_path_.size() - 1;
  std::size_t at = static_cast<std::size_t>(hash >> 32U) & mask;
  while (group_of_path_[at] != flow::kNone && !same_path(groups_[group_of_path_[at]], hops))
    at = (at + 1) & mask;
  return static_cast<Index>(at);
}

/// Keeps the table at most half full.
void FlowNetwork::Impl::grow_paths() {
  if (2 * (paths_ + 1) <= group_of_path_.size()) return;
  const std::vector<Index> old = std::move(group_of_path_);
  group_of_path_.assign(old.empty() ? 16 : 2 * old.size(), flow::kNone);
  std::vector<Hop> hops;
  for (const Index index : old) {
    if (index == flow::kNone) continue;
    hops.clear();
    for (const flow::GroupHop& hop : hops_of(groups_[index]))
      hops.push_back({LinkId(hop.link), Bytes{}});
    group_of_path_[hash_slot(hops)] = index;
  }
}

/// The group for the flow in sorted_.
FlowNetwork::Impl::Index FlowNetwork::Impl::find_group(bool capped) {
  if (capped) {
    if (free_groups_.size() <= sorted_.size()) free_groups_.resize(sorted_.size() + 1);
    std::vector<Index>& pool = free_groups_[sorted_.size()];
    if (pool.empty()) return new_group(true);
    const Index index = pool.back();
    pool.pop_back();
    for (std::size_t i = 0; i < sorted_.size(); ++i)
      hops_of_groups_[groups_[index].first_hop + i].link = sorted_[i].link.value();
    return index;
  }
  grow_paths();
  const Index slot = hash_slot(sorted_);
  if (group_of_path_[slot] == flow::kNone) {
    group_of_path_[slot] = new_group(false);
    ++paths_;
  }
  return group_of_path_[slot];
}

FlowNetwork::Impl::Index FlowNetwork::Impl::new_group(bool capped) {
  const auto index = static_cast<Index>(groups_.size());
  TS_EXPECTS(index < kCapBit, index);
  Group& group = groups_.emplace_back();
  group.capped = capped;
  group.first_hop = static_cast<Index>(hops_of_groups_.size());
  group.hop_count = static_cast<Index>(sorted_.size());
  for (const Hop& hop : sorted_)
    hops_of_groups_.push_back({.link = hop.link.value(), .group = index});
  group.timer = static_cast<Index>(timers_.owners());
  timers_.add_owner();
  timer_owner_.push_back(index | kCapBit);
  return index;
}

}  // namespace tiersim
