// Rates: weighted max-min fairness by progressive filling of the part that a change reaches.
#include <algorithm>
#include <utility>

#include "sim/core/flow_network_impl.hpp"

namespace tiersim {

using flow::Division;
using flow::Group;
using flow::GroupHop;
using flow::Level;
using flow::LevelHeap;
using flow::Link;
using flow::LinkGroup;
using flow::LinkState;
using flow::Standing;
using flow::Ticks;
using flow::TimerHeap;

namespace {

LinkState state_of(const Link& link) {
  if (link.flows == 0) return LinkState::idle;
  if (link.flows == 1) return LinkState::single;
  // If all of its flows fit at their highest rates, no flow is ever slowed here. The link that sets
  // a flow's own pace is never slack, because that flow alone can fill it.
  const bool fits = link.potential <= static_cast<std::uint64_t>(link.capacity);
  return fits ? LinkState::slack : LinkState::contended;
}

/// Makes `solved` the link's share if no flow is limited elsewhere.
void full_share(Link& link) {
  if (link.solved_load == link.load) return;
  const Division share = flow::level_of(link.full, link.load);
  link.solved = share.quotient;
  link.solved_exact = share.exact;
  link.solved_load = link.load;
}

}  // namespace

/// The first picosecond at which `remaining` progress is made.
std::int64_t FlowNetwork::Impl::finish_time(std::int64_t now, Ticks remaining, Ticks speed) {
  const UInt128 wait = flow::divide_up(remaining, speed);
  // The wait exceeds the range of simulated time: no finish unless a share changes.
  if (wait >= static_cast<std::uint64_t>(TimerHeap::kNever - now)) return TimerHeap::kNever;
  return now + static_cast<std::int64_t>(wait);
}

void FlowNetwork::Impl::solve(std::int64_t now) {
  if (dirty_links_.empty() && dirty_groups_.empty()) return;
  if (dirty_links_.size() == 1 && dirty_groups_.empty() &&
      solve_alone(links_[dirty_links_.front()], now)) {
    dirty_links_.clear();
  } else {
    gather();
    fill(now);
    dirty_links_.clear();
    dirty_groups_.clear();
  }
}

/// Solves a link with one group whose flows cross no other link, in virtual time. Returns false for
/// other links.
bool FlowNetwork::Impl::solve_alone(Link& link, std::int64_t now) {
  if (link.groups.size() > 1) return false;
  link.dirty = false;
  link.state = state_of(link);
  if (link.groups.empty()) {
    link.level = flow::kNoLevel;
    timers_.set(link.timer, TimerHeap::kNever);
    return true;
  }
  const LinkGroup& of = link.groups.front();
  Group& group = groups_[of.group];
  if (group.hop_count != 1 || group.capped) {
    link.dirty = true;
    return false;
  }
  full_share(link);
  const Level share = link.solved;
  const bool exact = link.solved_exact && link.inexact_flows == 0 &&
                     (share & ((UInt128{1} << flow::kFineBits) - 1)) == 0;
  if (link.flows == 1 && !exact) {
    link.dirty = true;
    return false;
  }
  run_at(group, static_cast<Index>(&link - links_.data()), share >> flow::kFineBits, now);
  link.level = share;
  Standing& standing = standings_[of.group];
  standing.level = share;
  standing.owner = group.bottleneck;
  standing.exact = link.solved_exact && link.inexact_flows == 0;
  standing.open = false;
  timers_.set(link.timer, finish_time(now, group.next_finish() - group.clock, group.speed));
  return true;
}

/// Starts with what has changed. All states first: the rest reads them.
void FlowNetwork::Impl::gather() {
  ++mark_;
  filled_ = 0;
  reached_links_.clear();
  candidates_.clear();
  for (const Index index : dirty_links_) {
    links_[index].dirty = false;
    links_[index].state = state_of(links_[index]);
  }
  for (const Index index : dirty_links_) {
    Link& link = links_[index];
    if (link.state == LinkState::single || link.state == LinkState::contended) {
      reach_link(index);
      continue;
    }
    // A link that no longer limits releases its groups.
    timers_.set(link.timer, TimerHeap::kNever);
    link.level = flow::kNoLevel;
    for (const LinkGroup& of : link.groups)
      if (standings_[of.group].owner == index) open_group(of.group);
    release_link(index);
  }
  for (const Index index : dirty_groups_)
    if (!groups_[index].flows.empty() && standings_[index].owner == flow::kNone)
      candidates_.push(LevelHeap::key(groups_[index].cap_level, index | kCapBit));
}

/// Takes the group off the link's capacity.
inline void FlowNetwork::Impl::take(Link& link, LinkGroup& of, const Standing& standing) {
  bool exact = standing.exact;
  Level taken = 0;
  if ((of.load & (flow::kLoadOne - 1)) == 0) {  // as taken_at(), but without a branch for it
    taken = standing.level * (of.load >> flow::kLoadBits);
  } else {
    const Division rounded = flow::taken_at(standing.level, of.load);
    taken = rounded.quotient;
    exact = exact && rounded.exact;
  }
  const Level remaining = link.remaining;
  link.remaining = taken < remaining ? remaining - taken : 0;
  link.open_load = link.open_load - of.load;
  link.tainted = link.tainted || !exact;
  link.stale = true;
  of.taken = true;
}

/// Adds the link to the set to solve, because the level of a group on it may have changed.
void FlowNetwork::Impl::reach_anew(Index index) {
  Link& link = links_[index];
  if (link.state == LinkState::slack || link.state == LinkState::idle) return;
  if (LevelHeap::key(link.level, index) < filled_) return;
  link.mark = mark_;
  reached_links_.push_back(index);
  link.held = std::exchange(link.level, flow::kNoLevel);
  link.next = TimerHeap::kNever;
  link.remaining = link.full;
  link.open_load = link.load;
  link.tainted = false;
  link.stale = false;
  UInt128 next = ~UInt128{0};
  for (LinkGroup& of : link.groups) {
    of.taken = false;
    const Standing& standing = standings_[of.group];
    if (standing.open) continue;
    if (standing.owner == index) {
      open_group(of.group);
      continue;
    }
    const UInt128 key = LevelHeap::key(standing.level, standing.owner);
    if (key <= filled_) {
      take(link, of, standing);
    } else {
      next = std::min(next, key);
    }
  }
  link.next_settled = next;
  if (link.open_load == 0) return;
  if (link.stale) {
    set_share(link);
  } else {
    full_share(link);
    link.share = link.solved;
    link.share_exact = link.solved_exact;
  }
  candidates_.push(LevelHeap::key(std::min<Level>(link.share, link.held), index));
}

/// Forgets the level of the group, whose owner is reached.
void FlowNetwork::Impl::open_group(Index index) {
  standings_[index].open = true;
  if (standings_[index].capped)
    candidates_.push(LevelHeap::key(groups_[index].cap_level, index | kCapBit));
}

/// Wire bytes of the flow at this hop of its group.
std::int64_t FlowNetwork::Impl::wire_of(Index flow, Index hop) const {
  const flow::Flow& of = flows_[flow];
  return hops_of_flows_[of.first_hop + hop - groups_[of.group].first_hop].wire;
}

/// Raises the level of all groups together. The link or cap that reaches its limit first freezes
/// its groups; the others share the remaining capacity. A link that is not reached freezes where it
/// did before, since nothing has changed for it up to there.
void FlowNetwork::Impl::fill(std::int64_t now) {
  while (!candidates_.empty()) {
    const UInt128 key = candidates_.top();
    filled_ = std::max(filled_, key);
    const Index owner = LevelHeap::owner_of(key);
    if ((owner & kCapBit) == 0) {
      settle_link(owner, now);
    } else {
      candidates_.pop();
      if (standings_[owner & ~kCapBit].open) freeze_cap(owner & ~kCapBit, now);
    }
  }
  for (const Index index : reached_links_) {
    const Link& link = links_[index];
    timers_.set(link.timer, link.next);
    if (link.state != LinkState::single) continue;
    // The link may set the pace of a flow whose level is that of another.
    const Index group_index = link.groups.front().group;
    TS_INVARIANT(!standings_[group_index].open, index);
    Group& group = groups_[group_index];
    if (group.bottleneck == flow::kOwnPace) run_own_pace(group, now);
  }
}

/// The first candidate is this link, at its share or at the level that it had before.
void FlowNetwork::Impl::settle_link(Index index, std::int64_t now) {
  Link& link = links_[index];
  if (link.next_settled <= filled_) take_settled(link);
  if (link.open_load == 0) return candidates_.pop();  // not full
  if (link.stale) set_share(link);
  const UInt128 share = LevelHeap::key(link.share, index);
  if (share <= filled_) {
    candidates_.pop();
    return freeze_link(index, now);
  }
  // Groups frozen elsewhere left more for the others on this link, so its turn comes later.
  if (LevelHeap::key(link.held, index) > filled_) {
    candidates_.replace_top(std::min(share, LevelHeap::key(link.held, index)));
    return;
  }
  candidates_.replace_top(share);
  link.held = flow::kNoLevel;
  release_link(index);
}

/// The share of the link's groups that are not taken.
void FlowNetwork::Impl::set_share(Link& link) const {
  const Division share = flow::level_of(link.remaining, link.open_load);
  const Level level = LevelHeap::level_of(filled_);
  link.stale = false;
  link.share = std::max(share.quotient, level);
  link.share_exact = share.exact && share.quotient >= level;  // below it only by rounding
}

/// Takes the groups that links and caps out of reach have frozen by now.
void FlowNetwork::Impl::take_settled(Link& link) const {
  UInt128 next = ~UInt128{0};
  for (LinkGroup& of : link.groups) {
    const Standing& standing = standings_[of.group];
    if (standing.open || of.taken) continue;
    const UInt128 key = LevelHeap::key(standing.level, standing.owner);
    if (key <= filled_) {
      take(link, of, standing);
    } else {
      next = std::min(next, key);
    }
  }
  link.next_settled = next;
}

/// The link does not limit its groups where it did before: their other links are reached.
void FlowNetwork::Impl::release_link(Index index) {
  for (std::size_t i = 0; i < links_[index].groups.size(); ++i) {
    const Index group = links_[index].groups[i].group;
    if (standings_[group].owner != index || !standings_[group].open) continue;
    for (const GroupHop& hop : hops_of(standings_[group])) reach_link(hop.link);
  }
}

/// Freezes a full link: its groups that are not taken get its share.
void FlowNetwork::Impl::freeze_link(Index index, std::int64_t now) {
  Link& link = links_[index];
  const Level share = link.share;
  const bool exact = link.share_exact && !link.tainted && link.inexact_flows == 0;
  Level sure = share;
  if (link.tainted) sure -= std::min(sure, flow::guard_of(sure));
  const bool whole = (sure & ((Level{1} << flow::kFineBits) - 1)) == 0;
  const Ticks speed = sure >> flow::kFineBits;
  link.level = share;
  link.open_load = 0;
  if (link.state == LinkState::single && !(exact && whole)) {
    set_level(link.groups.front().group, index, share, false);
    run_own_pace(groups_[link.groups.front().group], now);
    return;
  }
  TS_INVARIANT(speed > 0, index, link.capacity, link.flows);
  Ticks least = ~Ticks{0};
  for (const LinkGroup& of : link.groups) {
    if (of.taken) continue;
    Group& group = groups_[of.group];
    set_level(of.group, index, share, exact && group.inexact_flows == 0);
    run_at(group, index, speed, now);
    least = std::min(least, group.next_finish() - group.clock);
  }
  link.next = finish_time(now, least, speed);
}

void FlowNetwork::Impl::freeze_cap(Index index, std::int64_t now) {
  Group& group = groups_[index];
  set_level(index, index | kCapBit, group.cap_level, group.cap_exact && group.inexact_flows == 0);
  run_own_pace(group, now);
}

/// Freezes the group. If that is a change, its other links are reached.
void FlowNetwork::Impl::set_level(Index index, Index owner, Level level, bool exact) {
  Standing& standing = standings_[index];
  const Level before = standing.level;
  const bool changed = before != level || standing.owner != owner || standing.exact != exact;
  standing.level = level;
  standing.owner = owner;
  standing.exact = exact;
  standing.open = false;
  for (const GroupHop& hop : hops_of(standing)) {
    Link& link = links_[hop.link];
    if (link.mark == mark_) {
      if (link.open_load != 0) take(link, link.groups[hop.position], standing);
    } else if (changed && (level > before || link.level != flow::kNoLevel)) {
      reach_link(hop.link);  // a link that is not full does not become full by less
    }
  }
}

/// The duration of the group's one flow on links without other flows, and under its cap.
flow::Pace FlowNetwork::Impl::own_pace(Group& group) {
  flow::Pace slowest = group.capped ? group.cap : flow::Pace{};
  const Index flow = group.flows.top().flow;
  for (Index i = 0; i < group.hop_count; ++i) {
    const Link& link = links_[hops_of_groups_[group.first_hop + i].link];
    if (link.state != LinkState::single) continue;
    const auto wire = static_cast<std::uint64_t>(wire_of(flow, group.first_hop + i));
    slowest = flow::slower(slowest, flow::pace_of(wire, link.capacity));
  }
  return slowest;
}

/// Sets the group's one flow to run as if alone. A flow that already does is left unchanged, so
/// that its progress is rounded only when it is disturbed.
void FlowNetwork::Impl::run_own_pace(Group& group, std::int64_t now) {
  const flow::Pace pace = own_pace(group);
  if (group.bottleneck == flow::kOwnPace && group.pace == pace) return;
  advance(group, now);
  const flow::FinishHeap::Entry entry = group.flows.top();
  const Ticks span = flows_[entry.flow].span;
  const Ticks remaining = entry.finish() - group.clock;
  group.bottleneck = flow::kOwnPace;
  group.pace = pace;
  group.speed = span;
  const UInt128 whole =
      remaining == span ? pace.numerator
                        : flow::rounded_up(flow::multiply_divide(remaining, pace.numerator, span));
  timers_.set(group.timer, finish_time(now, whole, pace.denominator));
}

}  // namespace tiersim
