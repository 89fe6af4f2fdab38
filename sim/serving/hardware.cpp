#include "sim/serving/hardware.hpp"
#include "sim/core/engine.hpp"

#include <algorithm>

namespace tiersim {
ServingHardware::ServingHardware(Engine& engine, const System& all, const System& one,
                                 std::int64_t groups, OnUse on_use, GroupRange part)
    : engine_(engine), one_(one), on_use_(std::move(on_use)), network_(engine) {
  TS_EXPECTS(all.channels().size() == one.channels().size());
  if (part.count == 0) part = {0, groups};
  const std::int64_t end = part.first + part.count;
  for (std::size_t c = 0; c < all.channels().size(); ++c) {
    const SystemChannel& channel = all.channels()[c];
    Channel& built = channels_.emplace_back();
    built.analytic = channel.level == Level::analytic;
    const std::int64_t sharing = std::max<std::int64_t>(1, channel.sharers / one.gpus());
    built.instances = (groups + sharing - 1) / sharing;
    built.together = (groups + built.instances - 1) / built.instances;
    built.first = part.first / built.together;
    const std::int64_t last = (end - 1) / built.together;
    built.crosses = built.first * built.together < part.first ||
                    std::min(groups, (last + 1) * built.together) > end;
    for (std::int64_t i = built.first; i <= last; ++i)
      built.links.push_back(network_.add_link(channel.name, channel.capacity));
  }
}

void ServingHardware::take(std::int64_t group, ChannelId id, Bytes busy, Duration& least) {
  if (busy == Bytes{}) return;
  Channel& channel = channels_[id.index()];
  const Duration alone = busy / one_.channels()[id.index()].capacity;
  if (on_use_) uses_.push_back({id, alone / instances(id)});
  if (channel.analytic) {
    least = std::max(least, alone);
    channel.taken += busy;
    return;
  }
  crossed_ = crossed_ || channel.crosses;
  const LinkId link =
      channel.links.at(static_cast<std::size_t>(group / channel.together - channel.first));
  widest_ = std::max(widest_, busy);
  const auto same = std::ranges::find(hops_, link, &Hop::link);
  if (same != hops_.end())
    same->wire += busy;
  else
    hops_.push_back({link, busy});
}

Process ServingHardware::flow(Duration least) {
  const SimTime begin = engine_.now();
  std::vector<Use> uses = std::move(uses_);
  uses_.clear();
  if (on_flow_)
    for (const Use& use : uses) on_flow_(use.channel, 1);
  const Bytes payload = std::max(widest_, Bytes::from_base(1));
  widest_ = Bytes{};
  if (hops_.empty()) {
    co_await engine_.delay(least);
  } else {
    const FlowSpec spec{.hops = hops_, .payload = payload, .min_duration = least};
    FlowNetwork::Transfer transfer = network_.transfer(spec);
    co_await transfer;
  }
  for (const Use& use : uses) on_use_(use.channel, begin, engine_.now(), use.busy);
  if (on_flow_)
    for (const Use& use : uses) on_flow_(use.channel, -1);
  if (uses_.capacity() > 0) co_return;
  uses.clear();
  uses_ = std::move(uses);  // its memory, for the next flow
}

bool ServingHardware::is_undisturbed(const Demand& demand) const {
  if (!undisturbed_) return false;
  for (std::size_t c = 0; c < channels_.size(); ++c)
    if (channels_[c].together > 1 && demand.busy(ChannelId(c)) > Bytes{}) return false;
  return true;
}

Process ServingHardware::work(std::int64_t group, const Demand& demand, Duration least) {
  hops_.clear();
  const bool undisturbed = is_undisturbed(demand);
  for (std::size_t c = 0; c < demand.channels(); ++c) {
    const ChannelId id(c);
    const Bytes busy = demand.busy(id);
    if (undisturbed && busy > Bytes{}) {  // no flow: it would meet no other one
      const Duration alone = busy / one_.channels()[c].capacity;
      if (on_use_) uses_.push_back({id, alone / instances(id)});
      least = std::max(least, alone);
      channels_[c].taken += busy;
    } else {
      take(group, id, busy, least);
    }
  }
  const Process moving = flow(least);
  co_await moving;
}

void ServingHardware::take_all(std::int64_t group, const std::vector<ChannelCharge>& charges,
                               Duration& least) {
  for (const auto& [channel, busy] : charges)
    take(group, channel, busy * one_.channels()[channel.index()].sharers, least);
}

Process ServingHardware::copy(std::int64_t group, OpPlan plan, Receiver receiver) {
  co_await engine_.delay(plan.setup);
  hops_.clear();
  Duration least = plan.min_duration;
  take_all(group, plan.charges, least);
  if (receiver.group >= 0) take_all(receiver.group, receiver.plan.charges, least);
  const Process moving = flow(least);
  co_await moving;
}

Bytes ServingHardware::taken(ChannelId id) const {
  const Channel& channel = channels_[id.index()];
  Bytes sum = channel.taken;
  for (const LinkId link : channel.links) sum += network_.stats(link).wire_moved;
  return sum;
}

std::vector<Bytes> ServingHardware::taken() const {
  std::vector<Bytes> out;
  for (std::size_t c = 0; c < channels_.size(); ++c) out.push_back(taken(ChannelId(c)));
  return out;
}

}  // namespace tiersim
