// PacketFabric: from the ports to the switch.
#include <algorithm>
#include <optional>

#include "hwmodels/packet/nvlink/fabric_parts.hpp"

namespace tiersim {
namespace {

using enum FabricPacketKind;

// Delay of packet `index` behind packet 0, so that the payload a second stays within the pace.
Duration paced(const FabricShape& shape, const FabricMessage& message, std::uint32_t index) {
  if (message.pace == Bandwidth{} || index == 0) return {};
  return shape.packet * index / message.pace;
}

// A free slot, or a new one.
template <class T>
std::uint32_t take_slot(std::vector<T>& slots, std::vector<std::uint32_t>& free) {
  if (free.empty()) {
    slots.emplace_back();
    return static_cast<std::uint32_t>(slots.size() - 1);
  }
  const std::uint32_t slot = free.back();
  free.pop_back();
  return slot;
}

}  // namespace

void PacketFabric::add_stream(std::size_t source, const FabricTrain& train) {
  FabricSource& s = ports_->sources[source];
  const FabricMessage& spec = ports_->messages[train.message].spec;
  const auto gpus = static_cast<std::size_t>(shape_.gpus);
  const bool direct = train.kind == write || train.kind == read_request;
  if (direct && train.left == 1 && spec.pace == Bandwidth{} && spec.flow == 0)
    return queue_train(source, gpus + spec.dst, train);
  for (const std::size_t lane : s.active)
    if (spec.flow != 0 && s.lanes[lane].flow == spec.flow) return queue_train(source, lane, train);
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
  s.lanes[lane].flow = spec.flow;
  const std::uint64_t sequence = ports_->messages[train.message].sequence;
  s.lanes[lane].key = 3 * gpus + (spec.flow != 0 ? spec.flow : sequence);
  queue_train(source, lane, train);
}

void PacketFabric::queue_train(std::size_t source, std::size_t lane, const FabricTrain& train) {
  FabricSource& s = ports_->sources[source];
  FabricLane& l = s.lanes[lane];
  l.trains.push(train);
  if (l.trains.size() > 1) return;
  const auto place = std::find_if(s.active.begin(), s.active.end(),
                                  [&](std::size_t other) { return s.lanes[other].key > l.key; });
  s.active.insert(place, lane);
  next_of_train(s, lane);
  s.next = std::min(s.next, std::max(l.ready, s.wire.free_at()));
}

// Ready time, flits and account of the first packet of a lane.
void PacketFabric::next_of_train(FabricSource& source, std::size_t lane) {
  FabricLane& l = source.lanes[lane];
  const FabricTrain& train = l.trains.front();
  l.ready = train.ready;
  if (train.kind == write || train.kind == multicast || train.kind == reduce_request)
    l.ready += paced(shape_, ports_->messages[train.message].spec, train.index);
  const Bytes wire = ports_->wire_of(shape_, train.message, train.index, train.kind);
  l.flits = (wire.in_base() + shape_.flit.in_base() - 1) / shape_.flit.in_base();
  if (train.kind == reduce_request) l.flits = 1;  // the credit of a sum
  if (train.kind == contribution) l.flits = 0;    // the sum has reserved its place
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
    // The next lane in turn that can send, or else the first one that can.
    std::optional<std::size_t> first;
    std::optional<std::size_t> next;
    for (const std::size_t lane : s.active) {
      if (earliest(s, lane) > now) continue;
      if (!first) first = lane;
      if (s.lanes[lane].key <= s.turn) continue;
      next = lane;
      break;
    }
    const std::size_t lane = next ? *next : *first;
    s.turn = s.lanes[lane].key;
    send(source, lane, now);
  }
}

void PacketFabric::send(std::size_t source, std::size_t lane, SimTime now) {
  FabricSource& s = ports_->sources[source];
  FabricLane& l = s.lanes[lane];
  const FabricTrain& train = l.trains.front();
  const auto gpus = static_cast<std::size_t>(shape_.gpus);
  const std::size_t link = source / gpus;
  const std::size_t gpu = source % gpus;
  const Bytes payload = ports_->payload_of(shape_, train.message, train.index, train.kind);
  s.wire.send(now, ports_->wire_of(shape_, train.message, train.index, train.kind));
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
    packet.account = train.kind == multicast ? l.account : kNoAccount;
    send_to_all(source, packet);
  } else if (train.kind == contribution) {
    ++ports_->counters.merged;
    contribute(link, train, ready);
  } else {
    packet.account = shape_.credits > 0 ? l.account : kNoAccount;
    const std::size_t dst =
        lane < 3 * gpus ? lane % gpus : ports_->messages[train.message].spec.dst;
    enqueue(link, gpu, dst, packet);
  }

  end_of_packet(s, lane);
}

void PacketFabric::end_of_packet(FabricSource& source, std::size_t lane) {
  FabricLane& l = source.lanes[lane];
  FabricTrain& train = l.trains.front();
  if (--train.left > 0) {
    train.index += static_cast<std::uint32_t>(shape_.links);
  } else {
    l.trains.pop();
  }
  if (!l.trains.empty()) return next_of_train(source, lane);
  source.active.erase(std::find(source.active.begin(), source.active.end(), lane));
  if (lane >= 3 * static_cast<std::size_t>(shape_.gpus)) source.free_lanes.push_back(lane);
}

// The switch copies a write, or the request of a sum, to all ports of the group.
void PacketFabric::send_to_all(std::size_t source, FabricPacket packet) {
  const auto gpus = static_cast<std::size_t>(shape_.gpus);
  const FabricGroup group = ports_->messages[packet.message].spec.group;
  const auto count = static_cast<std::int64_t>(group.count);
  if (packet.kind == multicast) {
    packet.copies = take_slot(ports_->copies, ports_->free_copies);
    ports_->copies[packet.copies] = {count, SimTime{}};
  } else {
    packet.slot = take_slot(ports_->sums[source], ports_->free_sums[source]);
    ports_->sums[source][packet.slot] = {SimTime{}, count};
  }
  ++ports_->counters.merged;
  ports_->counters.made += count;
  for (std::size_t i = 0; i < group.count; ++i)
    enqueue(source / gpus, source % gpus, group.first + i, packet);
}

// The switch adds up contributions; a complete sum goes to its reader.
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
