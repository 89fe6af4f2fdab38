#include "hwmodels/packet/nvlink/nvlink_packet.hpp"

#include "hwmodels/limits.hpp"

namespace tiersim {
namespace {

using namespace std::chrono_literals;

Duration endpoint_of(const NvlinkConfig& port, const NvlinkPacketConfig& packet) {
  return (port.latency.value / 2 - 2 * packet.flight.value) / 2;
}

}  // namespace

void describe(Fields& f, NvlinkPacketConfig& c) {
  f.doc("What the packet level knows of an NVLink port.");
  f.optional("links", c.links, "Links of one GPU, over which addresses are striped.",
             in_range(std::int64_t{1}, std::int64_t{256}));
  f.optional("flit", c.flit, "What one credit stands for.",
             in_range(Bytes::from_base(1), Bytes::from_base(4096)));
  f.optional("credits", c.credits, "Flits behind each queue of a switch input; 0 is no limit.",
             in_range(std::int64_t{0}, std::int64_t{1} << 24));
  f.optional("ack_every", c.ack_every, "Writes that one acknowledgement covers; 0 is none.",
             in_range(std::int64_t{0}, std::int64_t{65536}));
  f.optional("flight", c.flight, "Of one wire, between a GPU and the switch.", latency_limits());
  f.optional("credit_return", c.credit_return,
             "From the last byte out of a buffer to its credits at the sender.", latency_limits());
}

void describe(Fields& f, NvswitchPacketConfig& c) {
  f.doc("What the packet level knows of an NVLink switch.");
  f.optional("queues", c.queues, kSwitchQueuesNames, "Of an input.");
  f.optional("reductions", c.reductions, "Sums that one link may wait for; 0 is no limit.",
             in_range(std::int64_t{0}, std::int64_t{1} << 20));
  f.optional("reduce", c.reduce, "What adding up takes.", latency_limits());
}

bool leaves_endpoints(const NvlinkConfig& port, const NvlinkPacketConfig& packet) {
  return endpoint_of(port, packet) >= 1ns;
}

FabricShape shape_of(const NvlinkNode& node, std::int64_t gpus) {
  TS_EXPECTS(leaves_endpoints(node.port, node.packet), node.port.latency.value,
             node.packet.flight.value);
  const NvlinkConfig& port = node.port;
  const NvlinkPacketConfig& packet = node.packet;
  const Bandwidth all = scale_down(port.raw.value, port.efficiency.value);
  FabricShape s;
  s.gpus = gpus;
  s.links = packet.links.value;
  s.link_rate = Bandwidth::from_base(all.in_base() / s.links);
  s.packet = port.packet.value;
  s.sector = port.sector.value;
  s.header = port.header.value;
  s.flit = packet.flit.value;
  s.credits = packet.credits.value;
  s.ack_every = packet.ack_every.value;
  s.reductions = node.packet_switch.reductions.value;
  s.inject = endpoint_of(port, packet);
  s.flight = packet.flight.value;
  s.cut_through = node.switch_latency.value / 2;
  // Whole picoseconds: what halving drops is given to the last part, so that the sum is the port's.
  s.eject = port.latency.value - port.latency.value / 2 - 2 * s.flight - s.inject;
  s.credit_return = packet.credit_return.value;
  s.reduce = node.packet_switch.reduce.value;
  s.memory = node.memory;
  s.one_queue = node.packet_switch.queues == SwitchQueues::fifo;
  return s;
}

}  // namespace tiersim
