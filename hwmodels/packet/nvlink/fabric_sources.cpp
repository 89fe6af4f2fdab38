// PacketFabric: from the ports to the switch.
#include <algorithm>

#include "hwmodels/packet/nvlink/fabric_parts.hpp"

namespace tiersim {
namespace {

using enum FabricPacketKind;

// Not more payload a second than the pace: packet i of a message is ready so long after packet 0.
Duration paced(const FabricShape& shape, const FabricMessage& message, std::uint32_t index) {
  if (message.pace == Bandwidth{} || index == 0) return {};
  return shape.packet * index / message.pace;
}

}  // namespace

void PacketFabric::add_stream(std::size_t source, const FabricTrain& train) {
  FabricSource& s = ports_->sources[source];
  const FabricMessage& spec = ports_->messages[train.message].spec;
  const auto gpus = static_cast<std::size_t>(shape_.gpus);
  const bool direct = train.kind == write || train.kind == read_request;
  if (direct && train.left == 1 && spec.pace == Bandwidth{})
    return queue_train(source, gpus + spec.dst, train);
  std::size_t lane = s.lanes.size();
  if (s.free_lanes.empty()) {
    s.lanes.emplace_back();
  } else {
    lane = s.free_lanes.back();
    s.free_lanes.pop_back();
  }
  std::size_t account = shape_.one_queue ? 0 : spec.dst;
  if (train.kind == multicast) account = gpus;
  if (train.kind == reduce_request) account = gpus + 1;
  s.lanes[lane].account = static_cast<std::uint32_t>(account);
  queue_train(source, lane, train);
}

void PacketFabric::queue_train(std::size_t source, std::size_t lane, const FabricTrain& train) {
  FabricSource& s = ports_->sources[source];
  FabricLane& l = s.lanes[lane];
  l.trains.push(train);
  if (l.trains.size() > 1) return;
  s.active.push_back(lane);
  next_of_train(s, lane);
  s.next = std::min(s.next, std::max(l.ready, s.wire.free_at()));
}

// What the first packet of a lane needs.
void PacketFabric::next_of_train(FabricSource& source, std::size_t lane) {
  FabricLane& l = source.lanes[lane];
  const FabricTrain& train = l.trains.front();
  l.ready = train.ready;
  if (train.kind == write || train.kind == multicast || train.kind == reduce_request)
    l.ready += paced(shape_, ports_->messages[train.message].spec, train.index);
  const Bytes wire =
      shape_.header + ports_->payload_of(shape_, train.message, train.index, train.kind);
  l.flits = (wire.in_base() + shape_.flit.in_base() - 1) / shape_.flit.in_base();
  if (train.kind == reduce_request) l.flits = 1;  // a sum
  if (train.kind == contribution) l.flits = 0;    // the sum has its place
}

SimTime PacketFabric::earliest(const FabricSource& source, std::size_t lane) const {
  const FabricLane& l = source.lanes[lane];
  if (l.flits == 0) return l.ready;
  return std::max(l.ready, source.accounts[l.account].earliest(l.flits));
}

void PacketFabric::advance_source(std::size_t source, SimTime end) {
  FabricSource& s = ports_->sources[source];
  for (;;) {
    SimTime now = kFabricNever;
    for (const std::size_t lane : s.active) now = std::min(now, earliest(s, lane));
    if (now != kFabricNever) now = std::max(now, s.wire.free_at());
    s.next = now;
    if (now >= end) return;
    std::size_t position = s.turn < s.active.size() ? s.turn : 0;
    while (earliest(s, s.active[position]) > now)
      position = position + 1 == s.active.size() ? 0 : position + 1;
    s.turn = position;
    send(source, s.active[position], now);
  }
}

void PacketFabric::send(std::size_t source, std::size_t lane, SimTime now) {
  FabricSource& s = ports_->sources[source];
  FabricLane& l = s.lanes[lane];
  FabricTrain& train = l.trains.front();
  const auto gpus = static_cast<std::size_t>(shape_.gpus);
  const std::size_t link = source / gpus;
  const std::size_t gpu = source % gpus;
  const Bytes payload = ports_->payload_of(shape_, train.message, train.index, train.kind);
  s.wire.send(now, shape_.header + payload);
  s.payload += payload;
  const SimTime ready = now + shape_.flight + shape_.cut_through;
  if (l.flits > 0) s.accounts[l.account].take(now, l.flits);

  FabricPacket packet{.ready = ready,
                      .message = train.message,
                      .index = train.index,
                      .slot = train.slot,
                      .src = static_cast<std::uint16_t>(gpu),
                      .kind = train.kind,
                      .finishes = train.finishes};
  if (train.kind == multicast || train.kind == reduce_request) {
    if (train.kind == multicast) {
      packet.account = l.account;
      packet.copies = static_cast<std::uint32_t>(ports_->copies.size());
      if (ports_->free_copies.empty()) {
        ports_->copies.push_back(0);
      } else {
        packet.copies = ports_->free_copies.back();
        ports_->free_copies.pop_back();
      }
      ports_->copies[packet.copies] = static_cast<std::uint32_t>(gpus);
    } else {
      auto& free = ports_->free_sums[source];
      packet.slot = static_cast<std::uint32_t>(ports_->sums[source].size());
      if (free.empty()) {
        ports_->sums[source].emplace_back();
      } else {
        packet.slot = free.back();
        free.pop_back();
      }
      ports_->sums[source][packet.slot] = {SimTime{}, shape_.gpus};
    }
    ++ports_->counters.merged;
    ports_->counters.made += shape_.gpus;
    for (std::size_t output = 0; output < gpus; ++output) enqueue(link, gpu, output, packet);
  } else if (train.kind == contribution) {
    ++ports_->counters.merged;
    contribute(link, train, ready);
  } else {
    packet.account = shape_.credits > 0 ? l.account : kNoAccount;
    const std::size_t dst =
        lane < 2 * gpus ? lane % gpus : ports_->messages[train.message].spec.dst;
    enqueue(link, gpu, dst, packet);
  }

  if (--train.left > 0) {
    train.index += static_cast<std::uint32_t>(shape_.links);
    next_of_train(s, lane);
    ++s.turn;
    return;
  }
  l.trains.pop();
  if (!l.trains.empty()) {
    next_of_train(s, lane);
    ++s.turn;
    return;
  }
  s.active.erase(s.active.begin() +
                 static_cast<std::ptrdiff_t>(s.turn));  // the next one moves here
  if (lane >= 2 * gpus) s.free_lanes.push_back(lane);
}

// The switch adds up what arrives; the sum goes to its reader when nothing is missing.
void PacketFabric::contribute(std::size_t link, const FabricTrain& train, SimTime ready) {
  const std::size_t reader = ports_->messages[train.message].spec.src;
  FabricSum& sum = ports_->sums[at(link, reader)][train.slot];
  sum.ready = std::max(sum.ready, ready);
  if (--sum.missing > 0) return;
  ++ports_->counters.made;
  enqueue(link, static_cast<std::size_t>(shape_.gpus), reader,
          {.ready = sum.ready + shape_.reduce,
           .message = train.message,
           .index = train.index,
           .slot = train.slot,
           .src = static_cast<std::uint16_t>(reader),
           .kind = FabricPacketKind::sum});
}

}  // namespace tiersim
