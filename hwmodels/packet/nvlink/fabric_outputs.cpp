// PacketFabric: from the switch to the ports, and the effects of arrivals there.
#include <algorithm>
#include <tuple>

#include "hwmodels/packet/nvlink/fabric_parts.hpp"

namespace tiersim {
namespace {

using enum FabricPacketKind;

}  // namespace

void PacketFabric::enqueue(std::size_t link, std::size_t input, std::size_t output,
                           const FabricPacket& packet) {
  FabricOutput& o = ports_->outputs[at(link, output)];
  auto& queue = o.queues[input];
  if (packet.kind == sum)  // the order of completed sums may differ from that of their ready times
    queue.insert_sorted(packet, [&](const FabricPacket& a, const FabricPacket& b) {
      const auto order = [&](const FabricPacket& p) {
        return std::tuple{p.ready, ports_->messages[p.message].sequence, p.index};
      };
      return order(a) < order(b);
    });
  else
    queue.push(packet);
  o.heads[input] = queue.front().ready;
  o.next = std::min(o.next, std::max(o.heads[input], o.wire.free_at()));
  if (shape_.one_queue) ports_->order[at(link, input)].push(static_cast<std::uint32_t>(output));
}

void PacketFabric::advance_output(std::size_t output, SimTime end) {
  FabricOutput& o = ports_->outputs[output];
  for (;;) {
    SimTime now = *std::min_element(o.heads.begin(), o.heads.end());
    if (now != kFabricNever) now = std::max(now, o.wire.free_at());
    o.next = now;
    if (now >= end) return;
    grant(output, *o.turn.pick([&](std::size_t input) { return o.heads[input] <= now; }), now);
  }
}

// With one queue for each input, a packet for one output may block packets for others. All outputs
// of a plane are therefore advanced together, in the order of time.
void PacketFabric::advance_plane(std::size_t link, SimTime end) {
  const auto gpus = static_cast<std::size_t>(shape_.gpus);
  // Output and ready time of the first packet of an input.
  const auto head = [&](std::size_t input) {
    const auto& order = ports_->order[at(link, input)];
    if (order.empty()) return std::pair{gpus, kFabricNever};
    const std::size_t output = order.front();
    const FabricOutput& o = ports_->outputs[at(link, output)];
    return std::pair{output, std::max(o.heads[input], ports_->input_free[at(link, input)])};
  };
  for (;;) {
    SimTime now = kFabricNever;
    std::size_t output = gpus;
    for (std::size_t input = 0; input < gpus; ++input) {
      const auto [to, ready] = head(input);
      if (to == gpus) continue;
      const SimTime when = std::max(ready, ports_->outputs[at(link, to)].wire.free_at());
      if (when < now || (when == now && to < output)) {
        now = when;
        output = to;
      }
    }
    for (std::size_t i = 0; i < gpus; ++i) ports_->outputs[at(link, i)].next = kFabricNever;
    if (output != gpus) ports_->outputs[at(link, output)].next = now;
    if (now >= end) return;
    FabricOutput& o = ports_->outputs[at(link, output)];
    const std::size_t input = *o.turn.pick([&](std::size_t i) {
      if (i == gpus) return false;
      const auto [to, ready] = head(i);
      return to == output && ready <= now;
    });
    grant(at(link, output), input, now);
    ports_->order[at(link, input)].pop();
    ports_->input_free[at(link, input)] = o.wire.free_at();
  }
}

void PacketFabric::grant(std::size_t output, std::size_t input, SimTime now) {
  FabricOutput& o = ports_->outputs[output];
  const auto gpus = static_cast<std::size_t>(shape_.gpus);
  const std::size_t link = output / gpus;
  const FabricPacket packet = o.queues[input].front();
  o.queues[input].pop();
  o.heads[input] = o.queues[input].empty() ? kFabricNever : o.queues[input].front().ready;
  const Bytes payload = ports_->payload_of(shape_, packet.message, packet.index, packet.kind);
  const Wire::Passage passage =
      o.wire.send(now, ports_->wire_of(shape_, packet.message, packet.index, packet.kind));
  o.payload += payload;
  give_back(link, packet, passage.leaves);
  arrive(link, output % gpus, packet, passage.arrives + shape_.eject);
}

void PacketFabric::give_back(std::size_t link, const FabricPacket& packet, SimTime left) {
  if (packet.account == kNoAccount) return;
  if (packet.copies != kNoAccount) {
    FabricCopies& copies = ports_->copies[packet.copies];
    copies.left = left = std::max(copies.left, left);
    if (--copies.missing > 0) return;
    ports_->free_copies.push_back(packet.copies);
  }
  FabricSource& source = ports_->sources[at(link, packet.src)];
  const Bytes wire = ports_->wire_of(shape_, packet.message, packet.index, packet.kind);
  const std::int64_t flits = (wire.in_base() + shape_.flit.in_base() - 1) / shape_.flit.in_base();
  const SimTime when = left + shape_.credit_return;
  source.accounts[packet.account].give(when, flits);
  if (!source.active.empty())
    source.next = std::min(source.next, std::max(when, source.wire.free_at()));
}

void PacketFabric::arrive(std::size_t link, std::size_t gpu, const FabricPacket& packet,
                          SimTime when) {
  const FabricTrain answer{.ready = when + shape_.memory + shape_.inject,
                           .message = packet.message,
                           .index = packet.index,
                           .slot = packet.slot,
                           .kind = packet.kind == read_request ? response : contribution};
  switch (packet.kind) {
    case write:
      acknowledge(link, gpu, packet, when);
      [[fallthrough]];
    case response:
    case multicast:
      return packet_done(packet.message, when);
    case acknowledgement:
      if (packet.finishes) packet_done(packet.message, when);
      return;
    case read_request:
    case reduce_request:
      return queue_train(at(link, gpu), packet.src, answer);
    case sum: {
      FabricSource& source = ports_->sources[at(link, gpu)];
      source.accounts.back().give(when, 1);
      ports_->free_sums[at(link, gpu)].push_back(packet.slot);
      if (!source.active.empty())
        source.next = std::min(source.next, std::max(when, source.wire.free_at()));
      return packet_done(packet.message, when);
    }
    case contribution:
      // The switch consumes contributions.
      TS_INVARIANT(packet.kind != contribution, packet.message);
  }
}

// Sends one acknowledgement for every `ack_every` writes, and one for the last packet on this link
// of a message whose sender waits.
void PacketFabric::acknowledge(std::size_t link, std::size_t gpu, const FabricPacket& packet,
                               SimTime when) {
  if (shape_.ack_every == 0) return;
  FabricSource& back = ports_->sources[at(link, gpu)];
  const FabricMessageState& m = ports_->messages[packet.message];
  const bool last = m.spec.until_acknowledged && packet.index + shape_.links >= m.packets;
  if (++back.unacknowledged[packet.src] < shape_.ack_every && !last) return;
  back.unacknowledged[packet.src] = 0;
  queue_train(at(link, gpu), 2 * static_cast<std::size_t>(shape_.gpus) + packet.src,
              {.ready = when,
               .message = packet.message,
               .index = packet.index,
               .kind = acknowledgement,
               .finishes = last});
}

}  // namespace tiersim
