// Totals, computed on request: the clocks give the progress of flows in flight.
#include <algorithm>

#include "sim/core/flow_network_impl.hpp"

namespace tiersim {

using flow::Flow;
using flow::Group;
using flow::Link;

namespace {

/// floor(amount * progress / span)
std::int64_t part(std::int64_t amount, flow::Ticks progress, flow::Ticks span) {
  const flow::Division d =
      flow::multiply_divide(static_cast<std::uint64_t>(amount), progress, span);
  return static_cast<std::int64_t>(d.quotient);
}

}  // namespace

LinkStats FlowNetwork::Impl::stats(LinkId id) {
  leave_now();
  const Link& link = links_.at(id.index());
  const std::int64_t time = now();
  std::int64_t payload = link.payload_done;
  std::int64_t wire = link.wire_done;
  for (const flow::LinkGroup& of : link.groups) {
    Group& group = groups_[of.group];
    const flow::Ticks clock = clock_at(group, time);
    for (const flow::FinishHeap::Entry& entry : group.flows.entries()) {
      const Flow& flow = flows_[entry.flow];
      const flow::Ticks done = progress_of(flow, entry, clock);
      payload += part(flow.payload, done, flow.span);
      wire += part(wire_of(entry.flow, of.hop), done, flow.span);
    }
  }
  LinkStats stats;
  stats.payload_moved = Bytes::from_base(payload);
  stats.wire_moved = Bytes::from_base(wire);
  stats.busy = Duration(link.busy + (link.flows > 0 ? time - link.busy_since : 0));
  stats.flows_done = link.flows_done;
  stats.flows_now = link.flows;
  if (time > 0)
    stats.utilisation =
        static_cast<double>(wire) / static_cast<double>(link.capacity) / to_seconds(Duration(time));
  return stats;
}

FlowTotals FlowNetwork::Impl::totals() {
  leave_now();
  FlowTotals totals = totals_;
  const std::int64_t time = now();
  for (Group& group : groups_) {
    if (group.flows.empty()) continue;
    const flow::Ticks clock = clock_at(group, time);
    for (const flow::FinishHeap::Entry& entry : group.flows.entries()) {
      const Flow& flow = flows_[entry.flow];
      const std::int64_t moved = part(flow.payload, progress_of(flow, entry, clock), flow.span);
      totals.moved_in_flight += Bytes::from_base(moved);
      totals.remaining_in_flight += Bytes::from_base(flow.payload - moved);
    }
  }
  return totals;
}

std::vector<FlowShare> FlowNetwork::Impl::shares() {
  leave_now();
  std::vector<FlowShare> shares;
  for (Group& group : groups_) {
    if (group.bottleneck == flow::kNone) continue;
    const bool alone = group.bottleneck == flow::kOwnPace;
    flow::Ticks speed = group.speed;
    if (alone && group.pace.numerator > 0)
      speed = flow::multiply_divide(speed, group.pace.denominator, group.pace.numerator).quotient;
    for (const flow::FinishHeap::Entry& entry : group.flows.entries())
      shares.push_back({flows_[entry.flow].order, alone ? LinkId() : LinkId(group.bottleneck),
                        static_cast<Int128>(speed)});
  }
  std::sort(shares.begin(), shares.end(),
            [](const FlowShare& a, const FlowShare& b) { return a.flow < b.flow; });
  return shares;
}

/// Progress of a flow since its start, when its group's clock is at `clock`.
flow::Ticks FlowNetwork::Impl::progress_of(const Flow& flow, const flow::FinishHeap::Entry& entry,
                                           flow::Ticks clock) {
  const flow::Ticks remaining = entry.finish() - clock;
  if (static_cast<Int128>(remaining) <= 0) return flow.span;  // due at this very instant
  return flow.span - std::min<flow::Ticks>(remaining, flow.span);
}

}  // namespace tiersim
