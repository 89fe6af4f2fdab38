#include "hwmodels/packet/nvlink/fabric.hpp"

#include <algorithm>

#include "hwmodels/packet/nvlink/fabric_parts.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {
namespace {

// The shortest time after which a decision at one place can affect another; a window may be as
// long.
Duration longest_window(const FabricShape& s) {
  const Duration header = s.header / s.link_rate;
  const Duration there = std::min(s.inject, s.flight + s.cut_through);
  const Duration back = header + s.flight + s.eject;
  const Duration credits = s.credits > 0 ? header + s.credit_return : back;
  return std::min({there, back, credits});
}

FabricSource make_source(const FabricShape& s) {
  const auto gpus = static_cast<std::size_t>(s.gpus);
  FabricSource out{Wire(s.link_rate, s.flight)};
  out.lanes.resize(3 * gpus);
  for (std::size_t i = 0; i < 3 * gpus; ++i) {
    out.lanes[i].key = i;
    out.lanes[i].account = s.one_queue ? 0 : static_cast<std::uint32_t>(i % gpus);
  }
  out.accounts.assign(gpus + 1, CreditCalendar(s.credits));
  out.accounts.emplace_back(s.reductions);
  out.unacknowledged.assign(gpus, 0);
  return out;
}

FabricOutput make_output(const FabricShape& s) {
  const auto inputs = static_cast<std::size_t>(s.gpus) + 1;
  FabricOutput out{Wire(s.link_rate, s.flight), RoundRobin(inputs)};
  out.queues.resize(inputs);
  out.heads.assign(inputs, kFabricNever);
  return out;
}

}  // namespace

PacketFabric::PacketFabric(Engine& engine, const FabricShape& shape)
    : engine_(engine), shape_(shape), ports_(std::make_unique<FabricPorts>()) {
  TS_EXPECTS(shape.gpus >= 2 && shape.gpus <= 1024 && shape.links >= 1, shape.gpus, shape.links);
  TS_EXPECTS(shape.link_rate.in_base() > 0 && shape.packet >= shape.sector, shape.link_rate);
  TS_EXPECTS(shape.header.in_base() > 0 && shape.sector.in_base() > 0 && shape.flit.in_base() > 0);
  TS_EXPECTS(shape.credits == 0 || shape.flit * shape.credits >= shape.wire_bytes(shape.packet),
             shape.credits);
  const Duration longest = longest_window(shape);
  window_ = shape.window > Duration{} ? std::min(shape.window, longest) : longest;
  TS_EXPECTS(window_ > Duration{}, window_);
  const auto count = static_cast<std::size_t>(shape.links * shape.gpus);
  for (std::size_t i = 0; i < count; ++i) {
    ports_->sources.push_back(make_source(shape));
    ports_->outputs.push_back(make_output(shape));
  }
  ports_->message_free.resize(static_cast<std::size_t>(shape.gpus));
  ports_->sums.resize(count);
  ports_->free_sums.resize(count);
  if (shape.one_queue) {
    ports_->order.resize(count);
    ports_->input_free.assign(count, SimTime{});
  }
}

PacketFabric::~PacketFabric() = default;

void PacketFabric::post(const FabricMessage& message) {
  const auto gpus = static_cast<std::size_t>(shape_.gpus);
  const bool in_switch = message.op == FabricOp::reduce || message.op == FabricOp::multicast;
  TS_EXPECTS(message.src < gpus && message.bytes.in_base() > 0, message.src, message.bytes);
  TS_EXPECTS(in_switch ? !shape_.one_queue : message.dst < gpus && message.dst != message.src,
             message.dst);
  TS_EXPECTS(!message.until_acknowledged || shape_.ack_every > 0, shape_.ack_every);
  TS_EXPECTS(message.group.first + message.group.count <= gpus, message.group.count);
  auto id = static_cast<std::uint32_t>(ports_->messages.size());
  if (ports_->free_messages.empty()) {
    ports_->messages.emplace_back();
  } else {
    id = ports_->free_messages.back();
    ports_->free_messages.pop_back();
  }
  FabricMessageState& m = ports_->messages[id];
  m = {};
  m.spec = message;
  if (m.spec.group.count == 0) m.spec.group = {0, gpus};
  m.sequence = ++ports_->sequence;
  m.packets = (message.bytes.in_base() + shape_.packet.in_base() - 1) / shape_.packet.in_base();
  m.last = round_up(message.bytes - shape_.packet * (m.packets - 1), shape_.sector);
  TS_EXPECTS(m.packets <= std::int64_t{1} << 31, m.packets);
  m.missing = m.packets;
  if (message.op == FabricOp::multicast) m.missing *= static_cast<std::int64_t>(m.spec.group.count);
  if (message.until_acknowledged) m.missing += std::min(m.packets, shape_.links);
  ++ports_->counters.messages_open;

  using enum FabricPacketKind;
  constexpr std::array kKinds{write, read_request, reduce_request, multicast};
  SimTime& free = ports_->message_free[message.src];
  const SimTime begins = std::max(engine_.now(), free);
  free = begins + shape_.message_gap;
  FabricTrain train{.ready = begins + shape_.inject, .message = id};
  train.kind = kKinds[static_cast<std::size_t>(message.op)];
  const std::int64_t first = message.address / shape_.packet.in_base() % shape_.links;
  for (std::int64_t i = 0; i < std::min(shape_.links, m.packets); ++i) {
    const std::int64_t link = (first + i) % shape_.links;
    train.index = static_cast<std::uint32_t>(i);
    train.left = static_cast<std::uint32_t>((m.packets - i + shape_.links - 1) / shape_.links);
    add_stream(at(static_cast<std::size_t>(link), message.src), train);
  }
  wake_at(train.ready);
}

std::uint64_t PacketFabric::new_flow() {
  return ++ports_->sequence;
}

void PacketFabric::wake_at(SimTime when) {
  if (when >= due_) return;
  due_ = when;
  engine_.schedule(when, *this);
}

// Processes one window: ports first, then the switch. Each uses only decisions from before the
// window began, all of which are known.
void PacketFabric::on_event(Engine& engine, std::uint64_t) {
  if (engine.now() != due_) return;  // an earlier event took its place
  const SimTime end = due_ + window_;
  due_ = kFabricNever;
  for (std::size_t i = 0; i < ports_->sources.size(); ++i)
    if (ports_->sources[i].next < end) advance_source(i, end);
  if (shape_.one_queue) {
    for (std::size_t link = 0; link < static_cast<std::size_t>(shape_.links); ++link)
      advance_plane(link, end);
  } else {
    for (std::size_t i = 0; i < ports_->outputs.size(); ++i)
      if (ports_->outputs[i].next < end) advance_output(i, end);
  }
  SimTime next = kFabricNever;
  for (const FabricSource& s : ports_->sources) next = std::min(next, s.next);
  for (const FabricOutput& o : ports_->outputs) next = std::min(next, o.next);
  if (next != kFabricNever) wake_at(std::max(next, end));
}

void PacketFabric::packet_done(std::uint32_t message, SimTime when) {
  FabricMessageState& m = ports_->messages[message];
  m.latest = std::max(m.latest, when);
  if (--m.missing == 0) finish(message, m.latest);
}

// Messages that end at one instant are reported in the order of posting, before any other event of
// that instant. The order in which their ends were computed does not matter.
void PacketFabric::finish(std::uint32_t message, SimTime when) {
  ports_->ends.push({when, ports_->messages[message].sequence, message});
  engine_.call_at(
      when,
      [this](Engine& engine) {
        while (!ports_->ends.empty() && ports_->ends.top().when == engine.now()) {
          const std::uint32_t ended = ports_->ends.top().message;
          ports_->ends.pop();
          const FabricMessage spec = ports_->messages[ended].spec;
          ports_->free_messages.push_back(ended);
          --ports_->counters.messages_open;
          if (spec.listener != nullptr) spec.listener->on_done(engine, spec.tag);
        }
      },
      Lane::urgent);
}

FabricPortCounters PacketFabric::port(std::size_t gpu) const {
  FabricPortCounters out;
  for (std::size_t link = 0; link < static_cast<std::size_t>(shape_.links); ++link) {
    const FabricSource& source = ports_->sources[at(link, gpu)];
    const FabricOutput& output = ports_->outputs[at(link, gpu)];
    out.wire_out += source.wire.sent();
    out.wire_in += output.wire.sent();
    out.payload_out += source.payload;
    out.payload_in += output.payload;
    out.packets_out += source.wire.packets();
    out.packets_in += output.wire.packets();
  }
  return out;
}

FabricCounters PacketFabric::counters() const {
  FabricCounters out = ports_->counters;
  for (const FabricSource& source : ports_->sources) {
    out.entered += source.wire.packets();
    for (std::size_t i = 0; i + 1 < source.accounts.size(); ++i) {
      out.credits_issued += source.accounts[i].issued();
      out.credits_promised += source.accounts[i].promised();
    }
  }
  const auto flits = [&](const FabricPacket& p) {
    const Bytes wire = ports_->wire_of(shape_, p.message, p.index, p.kind);
    return (wire.in_base() + shape_.flit.in_base() - 1) / shape_.flit.in_base();
  };
  std::vector<bool> seen(ports_->copies.size());  // several copies hold the credits of one packet
  for (const FabricOutput& output : ports_->outputs) {
    out.left += output.wire.packets();
    for (const auto& queue : output.queues)
      for (std::size_t i = 0; i < queue.size(); ++i) {
        const FabricPacket& packet = queue[i];
        ++out.queued;
        if (packet.account == kNoAccount || shape_.credits == 0) continue;
        if (packet.copies != kNoAccount && seen[packet.copies]) continue;
        if (packet.copies != kNoAccount) seen[packet.copies] = true;
        out.credits_held += flits(packet);
      }
  }
  return out;
}

}  // namespace tiersim
