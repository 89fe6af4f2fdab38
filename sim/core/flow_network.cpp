// The flow network over time: its timers, the handling of their events, and the public interface.
#include "sim/core/flow_network.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/flow_network_impl.hpp"

namespace tiersim {

using flow::Group;
using flow::Link;
using flow::Ticks;
using flow::TimerHeap;

Duration uncontended_duration(const FlowSpec& spec, std::span<const Bandwidth> capacity) {
  Duration longest = spec.min_duration;
  for (const Hop& hop : spec.hops)
    longest = std::max(longest, hop.wire / capacity[hop.link.index()]);
  return longest;
}

LinkId FlowNetwork::Impl::add_link(std::string name, Bandwidth capacity) {
  const std::int64_t rate = capacity.in_base();
  TS_EXPECTS(rate > 0 && rate <= std::int64_t{1} << 50, name, rate);
  TS_EXPECTS(links_.size() < kCapBit, name);
  const LinkId id(links_.size());
  Link& link = links_.emplace_back();
  link.name = std::move(name);
  link.capacity = rate;
  link.full = (UInt128{static_cast<std::uint64_t>(rate)} * flow::kQuantum) << flow::kFineBits;
  link.timer = static_cast<Index>(timers_.owners());
  timers_.add_owner();
  timer_owner_.push_back(id.value());
  capacities_.push_back(capacity);
  return id;
}

/// The progress of a flow at its own pace, rounded down.
Ticks FlowNetwork::Impl::own_clock_at(const Group& group, std::uint64_t elapsed) {
  const Ticks span = group.speed;
  const UInt128 scaled = elapsed * group.pace.denominator;
  if (scaled >= group.pace.numerator) return group.clock + span;
  return group.clock + flow::multiply_divide(span, scaled, group.pace.numerator).quotient;
}

void FlowNetwork::Impl::pop_finished(Group& group) {
  while (group.flows.due(group.clock)) {
    const Index flow = group.flows.top().flow;
    group.flows.pop();
    group.first_known = false;
    finish(flow);
  }
}

/// Takes out every flow that has finished by now.
void FlowNetwork::Impl::collect_due(std::int64_t now) {
  while (timers_.earliest() <= now) {
    const Index timer = timers_.earliest_owner();
    const Index owner = timer_owner_[timer];
    timers_.expire_earliest();
    if ((owner & kCapBit) != 0) {
      Group& group = groups_[owner & ~kCapBit];
      advance(group, now);
      pop_finished(group);
      continue;
    }
    Link& link = links_[owner];
    // Backwards, because the last group replaces one that becomes empty.
    for (std::size_t i = link.groups.size(); i-- > 0;) {
      Group& group = groups_[link.groups[i].group];
      if (group.bottleneck != owner) continue;
      advance(group, now);
      pop_finished(group);
    }
  }
}

void FlowNetwork::Impl::deliver() {
  if (finished_.size() > 1)
    std::sort(finished_.begin(), finished_.end(),
              [](const Finished& a, const Finished& b) { return a.order < b.order; });
  if (waiter_finished_) {
    // Delivery goes through the engine, in order: the first receiver must not change this list, for
    // example by cancelling another process in it.
    for (const Finished& done : finished_) {
      if (done.waiter == nullptr) {
        engine_.schedule(engine_.now(), *done.handler, done.cookie);
        continue;
      }
      done.waiter->next = done.waiter;
      engine_.wake(*done.waiter->process);
    }
  } else {
    for (std::size_t i = 0; i < finished_.size(); ++i)
      finished_[i].handler->on_event(engine_, finished_[i].cookie);
  }
  waiter_finished_ = false;
  finished_.clear();
}

/// A timer has fired, or starts are to take effect.
void FlowNetwork::Impl::on_event(Engine&, std::uint64_t) {
  const std::int64_t time = now();
  if (armed_ <= time) armed_ = TimerHeap::kNever;
  settle_requested_ = false;
  if (exchange(time)) return;
  in_event_ = true;
  collect_due(time);
  deliver();
  solve(time);
  in_event_ = false;
  arm();
}

bool FlowNetwork::Impl::has_waiters() {
  for (Group& group : groups_)
    for (const flow::FinishHeap::Entry& entry : group.flows.entries())
      if (flows_[entry.flow].waiter != nullptr) return true;
  return false;
}

void FlowNetwork::Impl::stop() {
  if (armed_ != TimerHeap::kNever) engine_.cancel(timer_);
}

/// Rates are computed once an instant, after all of its starts.
void FlowNetwork::Impl::request_settle() {
  if (in_event_ || settle_requested_) return;
  settle_requested_ = true;
  engine_.schedule(engine_.now(), *this, 0, Lane::late);
}

/// Makes sure that an event comes at the first finish. An event that is too early does no harm; one
/// that is too late is cancelled, because as the last of all events it would move the engine's
/// clock.
void FlowNetwork::Impl::arm() {
  const std::int64_t next = timers_.earliest();
  if (next >= armed_) return;
  if (armed_ != TimerHeap::kNever) engine_.cancel(timer_);
  armed_ = next;
  timer_ = engine_.call_at_cancellable(SimTime(Duration(next)),
                                       [this](Engine& engine) { on_event(engine, 0); });
}

FlowNetwork::FlowNetwork(Engine& engine)
    : Waitable(engine), impl_(std::make_unique<Impl>(engine)) {}
FlowNetwork::~FlowNetwork() {
  end_users(impl_->has_waiters());
  impl_->stop();
}

LinkId FlowNetwork::add_link(std::string name, Bandwidth capacity) {
  return impl_->add_link(std::move(name), capacity);
}
void FlowNetwork::start(const FlowSpec& spec, EventHandler& done, std::uint64_t payload) {
  impl_->start(spec, &done, payload, nullptr);
}
std::uint32_t FlowNetwork::start_waiter(const FlowSpec& spec, WaitNode& waiter) {
  return impl_->start(spec, nullptr, 0, &waiter);
}
void FlowNetwork::forget_waiter(std::uint32_t flow) {
  impl_->forget_waiter(flow);
}
Duration FlowNetwork::uncontended_duration(const FlowSpec& spec) const {
  return tiersim::uncontended_duration(spec, impl_->capacities());
}
std::size_t FlowNetwork::link_count() const {
  return impl_->link_count();
}
std::string_view FlowNetwork::link_name(LinkId link) const {
  return impl_->link(link).name;
}
Bandwidth FlowNetwork::capacity(LinkId link) const {
  return Bandwidth::from_base(impl_->link(link).capacity);
}
LinkStats FlowNetwork::stats(LinkId link) const {
  return impl_->stats(link);
}
std::vector<FlowShare> FlowNetwork::shares() const {
  return impl_->shares();
}
FlowTotals FlowNetwork::totals() const {
  return impl_->totals();
}

}  // namespace tiersim
