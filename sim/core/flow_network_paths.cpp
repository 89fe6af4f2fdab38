// Paths and groups. A path is kept for good once a flow has used it. Its group comes from a pool
// while there are flows on it, so that the groups in use lie close together. A flow with a cap is a
// group of its own.
#include "sim/core/flow_network_impl.hpp"

namespace tiersim {

using flow::Group;
using flow::Path;

bool FlowNetwork::Impl::same_path(const Path& path, std::span<const Hop> hops) const {
  if (path.hop_count != hops.size()) return false;
  for (std::size_t i = 0; i < hops.size(); ++i)
    if (links_of_paths_[path.first_link + i] != hops[i].link.value()) return false;
  return true;
}

/// The slot of the path in path_table_, or the free slot where it belongs. The hash decides only
/// where a path is stored.
FlowNetwork::Impl::Index FlowNetwork::Impl::hash_slot(std::span<const Hop> hops) const {
  std::uint64_t hash = 0;
  for (const Hop& hop : hops) hash = (hash ^ hop.link.value()) * 0x9e37'79b9'7f4a'7c15U;
  const std::size_t mask = path_table_.size() - 1;
  std::size_t at = static_cast<std::size_t>(hash >> 32U) & mask;
  while (path_table_[at] != flow::kNone && !same_path(paths_[path_table_[at]], hops))
    at = (at + 1) & mask;
  return static_cast<Index>(at);
}

/// Keeps the table at most half full.
void FlowNetwork::Impl::grow_paths() {
  if (2 * (paths_.size() + 1) <= path_table_.size()) return;
  path_table_.assign(path_table_.empty() ? 16 : 2 * path_table_.size(), flow::kNone);
  std::vector<Hop> hops;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    hops.clear();
    for (Index k = 0; k < paths_[i].hop_count; ++k)
      hops.push_back({LinkId(links_of_paths_[paths_[i].first_link + k]), Bytes{}});
    path_table_[hash_slot(hops)] = static_cast<Index>(i);
  }
}

/// The path of the flow in given_.
FlowNetwork::Impl::Index FlowNetwork::Impl::find_path() {
  grow_paths();
  Index& entry = path_table_[hash_slot(given_)];
  if (entry == flow::kNone) {
    entry = static_cast<Index>(paths_.size());
    paths_.push_back({.first_link = static_cast<Index>(links_of_paths_.size()),
                      .hop_count = static_cast<Index>(given_.size())});
    for (const Hop& hop : given_) links_of_paths_.push_back(hop.link.value());
  }
  return entry;
}

FlowNetwork::Impl::Index FlowNetwork::Impl::group_of(Index path) {
  if (paths_[path].group == flow::kNone) paths_[path].group = new_group(path);
  return paths_[path].group;
}

/// A new, empty group over the links in given_; `path` is kNone for a capped one.
FlowNetwork::Impl::Index FlowNetwork::Impl::new_group(Index path) {
  const std::size_t hop_count = given_.size();
  if (free_groups_.size() <= hop_count) free_groups_.resize(hop_count + 1);
  std::vector<Index>& pool = free_groups_[hop_count];
  auto index = static_cast<Index>(groups_.size());
  if (pool.empty()) {
    TS_EXPECTS(index < kCapBit, index);
    Group& group = groups_.emplace_back();
    standings_.push_back({.first_hop = static_cast<Index>(hops_of_groups_.size()),
                          .hop_count = static_cast<Index>(hop_count)});
    group.first_hop = static_cast<Index>(hops_of_groups_.size());
    group.hop_count = static_cast<Index>(hop_count);
    hops_of_groups_.resize(hops_of_groups_.size() + hop_count);
    group.timer = static_cast<Index>(timers_.owners());
    timers_.add_owner();
    timer_owner_.push_back(index | kCapBit);
  } else {
    index = pool.back();
    pool.pop_back();
  }
  Group& group = groups_[index];
  group.path = path;
  group.capped = standings_[index].capped = path == flow::kNone;
  for (std::size_t i = 0; i < hop_count; ++i)
    hops_of_groups_[group.first_hop + i].link = given_[i].link.value();
  return index;
}

}  // namespace tiersim
