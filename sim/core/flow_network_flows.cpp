// Arrival and departure of flows and groups: checks, storage, and the sums kept by groups and
// links. No rate is computed here.
#include <algorithm>

#include "sim/core/flow_network_impl.hpp"

namespace tiersim {

using flow::Flow;
using flow::FlowHop;
using flow::Group;
using flow::GroupHop;
using flow::Link;
using flow::Pace;

namespace {
constexpr std::int64_t kWeightMax = std::int64_t{1} << 20;
constexpr std::size_t kHopsMax = 255;
constexpr unsigned kLoadMaxBits = 44;  ///< of wire * weight / payload, so that sums do not overflow
}  // namespace

void FlowNetwork::Impl::check(const FlowSpec& spec) const {
  TS_EXPECTS(spec.payload.in_base() > 0 && spec.payload.in_base() <= kBytesMax, spec.payload);
  TS_EXPECTS(spec.weight > 0 && spec.weight <= kWeightMax, spec.weight);
  TS_EXPECTS(spec.min_duration.count() >= 0, spec.min_duration);
  TS_EXPECTS(spec.hops.size() <= kHopsMax, spec.hops.size());
  for (const Hop& hop : spec.hops) {
    TS_EXPECTS(hop.link.index() < links_.size(), hop.link.index(), links_.size());
    TS_EXPECTS(hop.wire.in_base() >= 0 && hop.wire.in_base() <= kBytesMax, hop.wire);
  }
}

/// Sorts the hops by their links and leaves out those without wire bytes.
void FlowNetwork::Impl::sort_hops(const FlowSpec& spec) {
  sorted_.clear();
  for (const Hop& hop : spec.hops) {
    if (hop.wire.in_base() == 0) continue;
    std::size_t at = sorted_.size();
    sorted_.push_back(hop);
    for (; at > 0 && sorted_[at - 1].link >= hop.link; --at) {
      TS_EXPECTS(sorted_[at - 1].link != hop.link, hop.link.index());
      sorted_[at] = sorted_[at - 1];
    }
    sorted_[at] = hop;
  }
}

/// The duration of the flow in given_ if it is alone in the network.
Pace FlowNetwork::Impl::solo_pace(const FlowSpec& spec) const {
  Pace solo{static_cast<std::uint64_t>(spec.min_duration.count()), 1};
  for (const Hop& hop : given_)
    solo = flow::slower(solo, flow::pace_of(static_cast<std::uint64_t>(hop.wire.in_base()),
                                            links_[hop.link.index()].capacity));
  return solo;
}

void FlowNetwork::Impl::set_cap(Group& group, const FlowSpec& spec) const {
  group.cap = {static_cast<std::uint64_t>(spec.min_duration.count()), 1};
  group.cap_level = flow::kNoLevel;
  group.cap_exact = true;
  const UInt128 ticks =
      UInt128{static_cast<std::uint64_t>(spec.payload.in_base())} * flow::kTicksPerByte;
  const UInt128 divisor = group.cap.numerator * static_cast<std::uint64_t>(spec.weight);
  const flow::Wide fine = flow::multiply(ticks, UInt128{1} << flow::kFineBits);
  if (fine.high >= divisor) return;
  const flow::Division level = flow::divide(fine, divisor);
  group.cap_level = std::min(level.quotient, flow::kNoLevel);
  group.cap_exact = level.exact;
}

FlowNetwork::Impl::Index FlowNetwork::Impl::start_anew(const FlowSpec& spec, EventHandler* handler,
                                                       std::uint64_t cookie, WaitNode* waiter) {
  leave_now();
  check(spec);
  Index group_index = flow::kNone;
  Pace solo;
  bool capped = false;
  if (spec.hops.size() == 1 && spec.min_duration.count() == 0 &&
      spec.hops.front().wire.in_base() > 0) {
    given_ = spec.hops;
    Link& link = links_[spec.hops.front().link.index()];
    if (link.own_path == flow::kNone) link.own_path = find_path();
    group_index = group_of(link.own_path);
  } else {
    sort_hops(spec);
    given_ = sorted_;
    solo = solo_pace(spec);
    // A cap that no share can exceed has no effect, so the flow can join the others of its path.
    capped = solo == Pace{static_cast<std::uint64_t>(spec.min_duration.count()), 1};
    group_index = capped ? new_group(flow::kNone) : group_of(find_path());
  }
  const Index flow_index = new_flow(given_.size());
  Flow& flow = flows_[flow_index];
  const auto payload = static_cast<std::uint64_t>(spec.payload.in_base());
  const auto weight = static_cast<std::uint64_t>(spec.weight);
  const UInt128 ticks = payload * flow::kTicksPerByte;
  flow.span = weight == 1 ? ticks : flow::divide_up(ticks, weight);
  flow.order = next_order_++;
  flow.payload = spec.payload.in_base();
  flow.handler = handler;
  flow.waiter = waiter;
  flow.cookie = cookie;
  flow.group = group_index;
  flow.inexact = false;
  if (given_.size() == 1 && !capped) {
    FlowHop& hop = hops_of_flows_[flow.first_hop];
    set_load(flow, hop, given_.front(), weight);
    hop.potential = links_[given_.front().link.index()].capacity;
  } else {
    set_hops(flow, solo, weight);
  }
  Group& group = groups_[group_index];
  if (capped) set_cap(group, spec);
  advance(group, now());
  group.flows.push(group.clock + flow.span, flow_index);
  group.first_known = false;
  join_links(group_index, flow);
  ++totals_.flows_started;
  totals_.payload_started += spec.payload;
  request_settle();
  return flow_index;
}

void FlowNetwork::Impl::set_load(Flow& flow, FlowHop& hop, const Hop& given, std::uint64_t weight) {
  hop.wire = given.wire.in_base();
  hop.load = UInt128{weight} << flow::kLoadBits;
  if (hop.wire == flow.payload) return;
  const auto payload = static_cast<std::uint64_t>(flow.payload);
  const UInt128 weighted = UInt128{weight} * static_cast<std::uint64_t>(hop.wire);
  TS_EXPECTS(weighted >> kLoadMaxBits <= payload, hop.wire, weight, payload);
  const flow::Division load = weighted >> (128U - flow::kLoadBits) == 0
                                  ? flow::Division{(weighted << flow::kLoadBits) / payload,
                                                   (weighted << flow::kLoadBits) % payload == 0}
                                  : flow::multiply_divide(weighted, flow::kLoadOne, payload);
  hop.load = flow::rounded_up(load);
  flow.inexact = flow.inexact || !load.exact;
}

void FlowNetwork::Impl::set_hops(Flow& flow, const Pace& solo, std::uint64_t weight) {
  for (std::size_t i = 0; i < given_.size(); ++i) {
    FlowHop& hop = hops_of_flows_[flow.first_hop + i];
    set_load(flow, hop, given_[i], weight);
    // wire / solo duration; at the link that sets the pace, this is its whole capacity.
    const Pace second = flow::pace_of(static_cast<std::uint64_t>(hop.wire), 1);
    hop.potential =
        static_cast<std::int64_t>(second.numerator == solo.numerator
                                      ? solo.denominator
                                      : flow::rounded_up(flow::multiply_divide(
                                            second.numerator, solo.denominator, solo.numerator)));
  }
}

void FlowNetwork::Impl::join_links(Index group_index, const Flow& flow) {
  Group& group = groups_[group_index];
  const bool first = group.flows.size() == 1;
  // A group without a cap is reached over the link that limits it.
  if (group.capped) dirty_groups_.push_back(group_index);
  group.inexact_flows += flow.inexact ? 1U : 0U;
  for (Index i = 0; i < group.hop_count; ++i) {
    GroupHop& hop = hops_of_groups_[group.first_hop + i];
    const FlowHop& mine = hops_of_flows_[flow.first_hop + i];
    Link& link = links_[hop.link];
    if (first) {
      hop.position = static_cast<Index>(link.groups.size());
      link.groups.push_back({.load = 0, .group = group_index, .hop = group.first_hop + i});
    }
    link.groups[hop.position].load += mine.load;
    link.load += mine.load;
    link.potential += static_cast<std::uint64_t>(mine.potential);
    link.inexact_flows += flow.inexact ? 1U : 0U;
    if (link.flows++ == 0) link.busy_since = now();
    touch(hop.link);
  }
}

void FlowNetwork::Impl::leave_links(Index group_index, const Flow& flow) {
  Group& group = groups_[group_index];
  const bool last = group.flows.empty();
  group.inexact_flows -= flow.inexact ? 1U : 0U;
  for (Index i = 0; i < group.hop_count; ++i) {
    const GroupHop hop = hops_of_groups_[group.first_hop + i];
    const FlowHop& mine = hops_of_flows_[flow.first_hop + i];
    Link& link = links_[hop.link];
    link.groups[hop.position].load -= mine.load;
    link.load -= mine.load;
    link.potential -= static_cast<std::uint64_t>(mine.potential);
    link.inexact_flows -= flow.inexact ? 1U : 0U;
    if (last) {
      link.groups[hop.position] = link.groups.back();
      hops_of_groups_[link.groups.back().hop].position = hop.position;
      link.groups.pop_back();
    }
    if (--link.flows == 0) link.busy += now() - link.busy_since;
    link.payload_done += flow.payload;
    link.wire_done += mine.wire;
    ++link.flows_done;
    touch(hop.link);
  }
}

/// Takes a flow that has been popped from its group out of the network.
void FlowNetwork::Impl::finish(Index flow_index) {
  const Flow& flow = flows_[flow_index];
  leave_links(flow.group, flow);
  if (flow.handler != nullptr || flow.waiter != nullptr)
    finished_.push_back({flow.order, flow.handler, flow.waiter, flow.cookie});
  waiter_finished_ = waiter_finished_ || flow.waiter != nullptr;
  ++totals_.flows_finished;
  totals_.payload_finished += Bytes::from_base(flow.payload);
  free_flows_[groups_[flow.group].hop_count].push_back(flow_index);
  if (groups_[flow.group].flows.empty()) retire(flow.group);
}

void FlowNetwork::Impl::retire(Index group_index) {
  Group& group = groups_[group_index];
  timers_.set(group.timer, flow::TimerHeap::kNever);
  group.flows.clear();
  group.bottleneck = flow::kNone;
  group.speed = 0;
  standings_[group_index].level = flow::kNoLevel;
  standings_[group_index].owner = flow::kNone;
  standings_[group_index].open = true;
  if (!group.capped) paths_[group.path].group = flow::kNone;
  free_groups_[group.hop_count].push_back(group_index);
}

/// A flow keeps its storage for hops when it is reused.
FlowNetwork::Impl::Index FlowNetwork::Impl::new_flow(std::size_t hop_count) {
  if (free_flows_.size() <= hop_count) free_flows_.resize(hop_count + 1);
  std::vector<Index>& pool = free_flows_[hop_count];
  if (!pool.empty()) {
    const Index index = pool.back();
    pool.pop_back();
    return index;
  }
  const auto index = static_cast<Index>(flows_.size());
  flows_.emplace_back().first_hop = static_cast<Index>(hops_of_flows_.size());
  hops_of_flows_.resize(hops_of_flows_.size() + hop_count);
  return index;
}

}  // namespace tiersim
