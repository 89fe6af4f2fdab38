// The closed loop: a flow of one link finishes, and its handler starts another flow like it. Only
// progress changes then, but no sum and no share, so the new flow takes the place of the old one
// and no rate is computed. All other cases go the general way. That can still be decided while the
// handler runs, because the old flow stays in the sums until the handler has returned.
#include <algorithm>

#include "sim/core/flow_network_impl.hpp"

namespace tiersim {

using flow::Flow;
using flow::FlowHop;
using flow::Group;
using flow::Link;
using flow::Ticks;
using flow::TimerHeap;

/// The time at which the first flow of a group at its link's pace finishes.
std::int64_t FlowNetwork::Impl::first_finish(Group& group, std::int64_t now) {
  const flow::FinishHeap::Entry& top = group.flows.top();
  __builtin_prefetch(&flows_[top.flow], 1);
  const Ticks remaining = top.finish() - group.clock;
  if (group.by_speed.divisor() != group.speed) group.by_speed.set(group.speed);
  if (!group.by_speed.fits(remaining)) return finish_time(now, remaining, group.speed);
  const std::uint64_t wait = group.by_speed.divide_up(remaining);
  const auto left = static_cast<std::uint64_t>(TimerHeap::kNever - now);
  return wait >= left ? TimerHeap::kNever : now + static_cast<std::int64_t>(wait);
}

/// Handles an event at which exactly one flow finishes, if the flows of its link cross no other
/// link and no start is pending. Returns false for any other event, without any change.
bool FlowNetwork::Impl::exchange(std::int64_t now) {
  if (!timers_.only_earliest_due(now) || !dirty_links_.empty() || !dirty_groups_.empty())
    return false;
  const Index owner = timer_owner_[timers_.earliest_owner()];
  if ((owner & kCapBit) != 0) return false;
  // By index: the handler may add links, groups and flows.
  if (links_[owner].groups.size() != 1) return false;
  const Index group_index = links_[owner].groups.front().group;
  Group& group = groups_[group_index];
  if (group.hop_count != 1 || group.capped || group.bottleneck != owner) return false;
  const Ticks clock = group.clock + group.speed * static_cast<std::uint64_t>(now - group.since);
  group.clock = clock;
  group.since = now;
  if (!group.flows.only_top_due(clock)) return false;
  const Index flow_index = group.flows.top().flow;
  const Flow& flow = flows_[flow_index];
  if (flow.handler == nullptr) return false;
  group.flows.pop();
  group.first_known = false;
  leaving_ = flow_index;
  leaving_link_ = owner;
  in_event_ = true;
  flow.handler->on_event(engine_, flow.cookie);
  if (leaving_ == flow::kNone && dirty_links_.empty() && dirty_groups_.empty()) {
    timers_.set_earliest(first_finish(groups_[group_index], now));
  } else {
    timers_.expire_earliest();
    leave_now();
    // Solved again in any case, to set its timer.
    touch(owner);
    solve(now);
  }
  in_event_ = false;
  arm();
  return true;
}

/// Starts a flow in place of the one that is leaving. Returns false if they differ, so that sums
/// would change.
bool FlowNetwork::Impl::start_in_place(const FlowSpec& spec, EventHandler* handler,
                                       std::uint64_t cookie, WaitNode* waiter) {
  if (spec.hops.size() != 1 || spec.min_duration.count() != 0 || spec.weight != 1) return false;
  const Hop& given = spec.hops.front();
  Flow& flow = flows_[leaving_];
  FlowHop& hop = hops_of_flows_[flow.first_hop];
  const std::int64_t payload = spec.payload.in_base();
  if (given.link.value() != leaving_link_ || given.wire != spec.payload ||
      hop.load != flow::kLoadOne || flow.inexact)
    return false;
  TS_EXPECTS(payload > 0 && payload <= kBytesMax, spec.payload);
  Link& link = links_[leaving_link_];
  Group& group = groups_[flow.group];
  link.payload_done += flow.payload;
  link.wire_done += hop.wire;
  ++link.flows_done;
  ++totals_.flows_started;
  ++totals_.flows_finished;
  totals_.payload_started += spec.payload;
  totals_.payload_finished += Bytes::from_base(flow.payload);
  const Ticks span = static_cast<std::uint64_t>(payload) * flow::kTicksPerByte;
  const Ticks finish = group.clock + span;
  flow.span = span;
  flow.order = next_order_++;
  flow.payload = hop.wire = payload;
  flow.handler = handler;
  flow.waiter = waiter;
  flow.cookie = cookie;
  group.flows.replace_popped(finish, leaving_);
  leaving_ = flow::kNone;
  return true;
}

}  // namespace tiersim
