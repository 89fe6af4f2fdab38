#include "sim/serving/hardware.hpp"
#include "sim/core/engine.hpp"

#include <algorithm>

namespace tiersim {
ServingHardware::ServingHardware(Engine& engine, FlowNetwork& network, const System& all,
                                 const System& one, std::int64_t groups, OnUse on_use,
                                 GroupRange part)
    : engine_(engine), network_(network), one_(one), on_use_(std::move(on_use)) {
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

ServingHardware::Load& ServingHardware::begin_load(Duration least) {
  load_.hops.clear();
  load_.least = least;
  return load_;
}

void ServingHardware::take(std::int64_t group, ChannelId id, Bytes busy, Load& load) {
  if (busy == Bytes{}) return;
  Channel& channel = channels_[id.index()];
  const Duration alone = busy / one_.channels()[id.index()].capacity;
  if (on_use_) load.uses.push_back({this, id, alone / instances(id)});
  if (channel.analytic) {
    load.least = std::max(load.least, alone);
    channel.taken += busy;
    return;
  }
  crossed_ = crossed_ || channel.crosses;
  const LinkId link =
      channel.links.at(static_cast<std::size_t>(group / channel.together - channel.first));
  load.widest = std::max(load.widest, busy);
  const auto same = std::ranges::find(load.hops, link, &Hop::link);
  if (same != load.hops.end())
    same->wire += busy;
  else
    load.hops.push_back({link, busy});
}

Process ServingHardware::flow() {
  const SimTime begin = engine_.now();
  const Duration least = load_.least;
  std::vector<Use> uses = std::move(load_.uses);
  load_.uses.clear();
  for (const Use& use : uses)
    if (use.of->on_flow_) use.of->on_flow_(use.channel, 1);
  const Bytes payload = std::max(load_.widest, Bytes::from_base(1));
  load_.widest = Bytes{};
  if (load_.hops.empty()) {
    co_await engine_.delay(least);
  } else {
    const FlowSpec spec{.hops = load_.hops, .payload = payload, .min_duration = least};
    FlowNetwork::Transfer transfer = network_.transfer(spec);
    co_await transfer;
  }
  for (const Use& use : uses) use.of->on_use_(use.channel, begin, engine_.now(), use.busy);
  for (const Use& use : uses)
    if (use.of->on_flow_) use.of->on_flow_(use.channel, -1);
  if (load_.uses.capacity() > 0) co_return;
  uses.clear();
  load_.uses = std::move(uses);  // its memory, for the next flow
}

bool ServingHardware::is_undisturbed(const Demand& demand) const {
  if (!undisturbed_) return false;
  for (std::size_t c = 0; c < channels_.size(); ++c)
    if (channels_[c].together > 1 && demand.busy(ChannelId(c)) > Bytes{}) return false;
  return true;
}

Process ServingHardware::work(std::int64_t group, const Demand& demand, Duration least) {
  Load& load = begin_load(least);
  const bool undisturbed = is_undisturbed(demand);
  for (std::size_t c = 0; c < demand.channels(); ++c) {
    const ChannelId id(c);
    const Bytes busy = demand.busy(id);
    if (undisturbed && busy > Bytes{}) {  // no flow: it would meet no other one
      const Duration alone = busy / one_.channels()[c].capacity;
      if (on_use_) load.uses.push_back({this, id, alone / instances(id)});
      load.least = std::max(load.least, alone);
      channels_[c].taken += busy;
    } else {
      take(group, id, busy, load);
    }
  }
  const Process moving = flow();
  co_await moving;
}

void ServingHardware::take_all(std::int64_t group, const std::vector<ChannelCharge>& charges,
                               Load& load) {
  for (const auto& [channel, busy] : charges)
    take(group, channel, busy * one_.channels()[channel.index()].sharers, load);
}

Process ServingHardware::copy(std::int64_t group, OpPlan plan, Receiver receiver) {
  co_await engine_.delay(plan.setup);
  Load& load = begin_load(plan.min_duration);
  take_all(group, plan.charges, load);
  if (receiver.hardware != nullptr)
    receiver.hardware->take_all(receiver.group, receiver.plan.charges, load);
  const Process moving = flow();
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
