#include "sim/serving/hardware.hpp"
#include "sim/core/engine.hpp"

#include <algorithm>

namespace tiersim {

ServingHardware::ServingHardware(Engine& engine, const System& all, const System& one,
                                 std::int64_t groups, OnUse on_use)
    : engine_(engine), one_(one), groups_(groups), on_use_(std::move(on_use)), network_(engine) {
  const std::int64_t gpus = one.gpus();
  TS_EXPECTS(all.channels().size() == one.channels().size());
  for (std::size_t c = 0; c < all.channels().size(); ++c) {
    const SystemChannel& channel = all.channels()[c];
    Channel& built = channels_.emplace_back();
    built.analytic = channel.level == Level::analytic;
    // Number of groups that share one instance; 1 if only GPUs of one group share it.
    const std::int64_t together = std::max<std::int64_t>(1, channel.sharers / gpus);
    for (std::int64_t i = 0; i < (groups + together - 1) / together; ++i)
      built.links.push_back(network_.add_link(channel.name, channel.capacity));
  }
}

std::size_t ServingHardware::instance(const Channel& channel, std::int64_t group) const {
  const auto count = static_cast<std::int64_t>(channel.links.size());
  const std::int64_t together = (groups_ + count - 1) / count;
  return static_cast<std::size_t>(group / together);
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
  const LinkId link = channel.links[instance(channel, group)];
  widest_ = std::max(widest_, busy);
  const auto same = std::ranges::find(hops_, link, &Hop::link);
  if (same != hops_.end())
    same->wire += busy;
  else
    hops_.push_back({link, busy});
}

Process ServingHardware::flow(Duration least) {
  const SimTime begin = engine_.now();
  const std::vector<Use> uses = std::move(uses_);
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
}

Process ServingHardware::work(std::int64_t group, const Demand& demand, Duration least) {
  hops_.clear();
  for (std::size_t c = 0; c < demand.channels(); ++c)
    take(group, ChannelId(c), demand.busy(ChannelId(c)), least);
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
