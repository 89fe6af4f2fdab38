// Rates: weighted max-min fairness by progressive filling of the part that a change can reach.
#include <algorithm>

#include "sim/core/flow_network_impl.hpp"

namespace tiersim {

using flow::Division;
using flow::Group;
using flow::GroupHop;
using flow::Level;
using flow::Link;
using flow::LinkGroup;
using flow::LinkState;
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

/// The link's share if no flow is limited elsewhere.
Division full_share(Link& link) {
  if (link.solved_load != link.load) {
    link.solved = flow::level_of(link.full, link.load);
    link.solved_load = link.load;
  }
  return link.solved;
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
  }
  undisturbed_ = flow::kNoLevel;
}

/// Solves a link with one group whose flows cross no other link, in virtual time. Returns false for
/// other links.
bool FlowNetwork::Impl::solve_alone(Link& link, std::int64_t now) {
  if (link.groups.size() > 1) return false;
  link.dirty = false;
  link.state = state_of(link);
  link.added_load = 0;
  if (link.groups.empty()) {
    link.level = flow::kNoLevel;
    timers_.set(link.timer, TimerHeap::kNever);
    return true;
  }
  LinkGroup& of = link.groups.front();
  Group& group = groups_[of.group];
  if (group.hop_count != 1 || group.capped) {
    link.dirty = true;
    return false;
  }
  const Division share = full_share(link);
  const bool exact = share.exact && link.inexact_flows == 0 &&
                     (share.quotient & ((UInt128{1} << flow::kFineBits) - 1)) == 0;
  if (link.flows == 1 && !exact) {
    link.dirty = true;
    return false;
  }
  run_at(group, static_cast<Index>(&link - links_.data()), share.quotient >> flow::kFineBits, now);
  group.level = of.level = link.level = share.quotient;
  of.exact = share.exact && link.inexact_flows == 0;
  link.remaining = link.full;
  link.shared_load = link.load;
  timers_.set(link.timer, finish_time(now, group.next_finish() - group.clock, group.speed));
  return true;
}

void FlowNetwork::Impl::reach_group(Index index) {
  Group& group = groups_[index];
  if (group.mark == mark_) return;
  group.mark = mark_;
  group.frozen = false;
  open_groups_.push_back(index);
}

/// Adds the link to the set to solve and, if it is shared, everything else that crosses it.
/// Undisturbed groups keep their share.
void FlowNetwork::Impl::reach_link(Index index) {
  Link& link = links_[index];
  if (link.mark == mark_ || link.state == LinkState::slack || link.state == LinkState::idle) return;
  if (link.level < undisturbed_) return;
  link.mark = mark_;
  open_links_.push_back(index);
  link.remaining = link.full;
  link.open_load = link.load;
  link.tainted = false;
  for (const LinkGroup& of : link.groups) {
    if (of.level >= undisturbed_) {
      reach_group(of.group);
      continue;
    }
    const Division taken = flow::taken_at(of.level, of.load);
    link.remaining -= std::min(taken.quotient, link.remaining);
    link.open_load -= of.load;
    link.tainted = link.tainted || !of.exact || !taken.exact;
  }
  link.share = link.open_load == link.load || link.open_load == 0
                   ? full_share(link)
                   : flow::level_of(link.remaining, link.open_load);
}

/// Progressive filling with the link's new flows repeats the earlier solve at least up to this
/// level. The link had `remaining` for `shared_load` before it froze.
Level FlowNetwork::Impl::undisturbed_below(const Link& link, LinkState before) const {
  if (link.added_load == 0) return flow::kNoLevel;
  if (before != LinkState::single && before != LinkState::contended)
    return flow::level_of(link.full, link.load).quotient;
  return flow::level_of(link.remaining, link.shared_load + link.added_load).quotient;
}

/// Collects everything whose rate the dirty links and groups may change.
void FlowNetwork::Impl::gather() {
  ++mark_;
  open_links_.clear();
  open_groups_.clear();
  // All states first: the search below reads them.
  for (const Index index : dirty_links_) {
    Link& link = links_[index];
    link.dirty = false;
    const LinkState before = link.state;
    link.state = state_of(link);
    undisturbed_ = std::min(undisturbed_, undisturbed_below(link, before));
    link.added_load = 0;
    if (link.state == LinkState::single || link.state == LinkState::contended) continue;
    timers_.set(link.timer, TimerHeap::kNever);
    link.level = flow::kNoLevel;
    // A link that no longer limits releases its groups.
    if (link.state == LinkState::slack && before != LinkState::slack)
      for (const LinkGroup& of : link.groups) dirty_groups_.push_back(of.group);
  }
  for (const Index index : dirty_links_) reach_link(index);
  for (const Index index : dirty_groups_)
    if (!groups_[index].flows.empty() && groups_[index].level >= undisturbed_) reach_group(index);
  for (std::size_t i = 0; i < open_groups_.size(); ++i)
    for (const GroupHop& hop : hops_of(groups_[open_groups_[i]])) reach_link(hop.link);
  dirty_links_.clear();
  dirty_groups_.clear();
}

/// Wire bytes of the flow at this hop of its group.
std::int64_t FlowNetwork::Impl::wire_of(Index flow, Index hop) const {
  const flow::Flow& of = flows_[flow];
  return hops_of_flows_[of.first_hop + hop - groups_[of.group].first_hop].wire;
}

/// Raises the level of all groups together. The link or cap that reaches its limit first freezes
/// its groups; the others share the remaining capacity.
void FlowNetwork::Impl::fill(std::int64_t now) {
  candidates_.clear();
  for (const Index index : open_links_) {
    Link& link = links_[index];
    link.stale = false;
    link.level = flow::kNoLevel;
    link.shared_load = 0;
    link.next = TimerHeap::kNever;
    if (link.open_load == 0) continue;
    candidates_.add(link.share.quotient, index);
  }
  for (const Index index : open_groups_)
    if (groups_[index].capped) candidates_.add(groups_[index].cap_level, index | kCapBit);
  candidates_.build();
  open_count_ = static_cast<Index>(open_groups_.size());
  fill_level_ = 0;
  while (open_count_ > 0) {
    TS_INVARIANT(!candidates_.empty(), open_count_);
    const Index owner = candidates_.top_owner();
    if ((owner & kCapBit) != 0) {
      candidates_.pop();
      freeze_cap(owner & ~kCapBit, now);
      continue;
    }
    Link& link = links_[owner];
    if (link.open_load == 0 || !link.stale) {
      candidates_.pop();
      if (link.open_load != 0) freeze_link(owner, now);
      continue;
    }
    // Groups frozen elsewhere left more for the others on this link, so its turn may come later.
    link.stale = false;
    link.share = flow::level_of(link.remaining, link.open_load);
    if (link.share.quotient < fill_level_) link.share = {fill_level_, false};
    candidates_.replace_top(link.share.quotient);
  }
  for (const Index index : open_links_) timers_.set(links_[index].timer, links_[index].next);
}

/// Freezes a full link: its groups without a level get its share.
void FlowNetwork::Impl::freeze_link(Index index, std::int64_t now) {
  Link& link = links_[index];
  const Division share = link.share;
  fill_level_ = share.quotient;
  const bool exact = share.exact && !link.tainted && link.inexact_flows == 0;
  Level sure = share.quotient;
  if (link.tainted) sure -= std::min(sure, flow::guard_of(sure));
  const bool whole = (sure & ((Level{1} << flow::kFineBits) - 1)) == 0;
  const Ticks speed = sure >> flow::kFineBits;
  link.level = share.quotient;
  link.shared_load = link.open_load;
  link.open_load = 0;
  if (link.state == LinkState::single && !(exact && whole)) {
    Group& group = groups_[link.groups.front().group];
    take(group, index, share.quotient, false);
    run_own_pace(group, now);
    return;
  }
  TS_INVARIANT(speed > 0, index, link.capacity, link.flows);
  Ticks least = ~Ticks{0};
  for (const LinkGroup& of : link.groups) {
    Group& group = groups_[of.group];
    if (group.frozen) continue;
    take(group, index, share.quotient, exact && group.inexact_flows == 0);
    run_at(group, index, speed, now);
    least = std::min(least, group.next_finish() - group.clock);
  }
  link.next = finish_time(now, least, speed);
}

void FlowNetwork::Impl::freeze_cap(Index index, std::int64_t now) {
  Group& group = groups_[index];
  if (group.frozen) return;
  fill_level_ = std::max(fill_level_, group.cap_level);
  take(group, flow::kNone, group.cap_level, group.cap_exact && group.inexact_flows == 0);
  run_own_pace(group, now);
}

/// Freezes the group at `level`, which leaves that much less on its other links for the open
/// groups.
void FlowNetwork::Impl::take(Group& group, Index bottleneck, Level level, bool exact) {
  group.frozen = true;
  group.level = level;
  --open_count_;
  for (const GroupHop& hop : hops_of(group)) {
    Link& link = links_[hop.link];
    LinkGroup& of = link.groups[hop.position];
    of.level = level;
    of.exact = exact;
    if (hop.link == bottleneck || link.mark != mark_) continue;
    link.open_load -= of.load;
    const Division taken = flow::taken_at(level, of.load);
    link.remaining -= std::min(taken.quotient, link.remaining);
    link.stale = true;
    link.tainted = link.tainted || !exact || !taken.exact;
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
