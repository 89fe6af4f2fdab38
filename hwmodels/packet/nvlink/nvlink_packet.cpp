#include "hwmodels/packet/nvlink/nvlink_packet.hpp"

namespace tiersim {
namespace {

using namespace std::chrono_literals;

Duration endpoint_of(const NvlinkConfig& port, const NvlinkPacketConfig& packet) {
  return (port.latency.value / 2 - 2 * packet.flight.value) / 2;
}

}  // namespace

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
  s.message_header = node.message_header;
  s.message_gap = node.message_gap;
  s.flit = packet.flit.value;
  s.credits = packet.credits.value;
  s.ack_every = packet.ack_every.value;
  s.reductions = node.packet_switch.reductions.value;
  s.inject = endpoint_of(port, packet);
  s.flight = packet.flight.value;
  s.cut_through = node.switch_latency.value / 2;
  // Whole picoseconds: the last part takes what halving drops, so that the parts add up to the
  // port's latency.
  s.eject = port.latency.value - port.latency.value / 2 - 2 * s.flight - s.inject;
  s.credit_return = packet.credit_return.value;
  s.reduce = node.packet_switch.reduce.value;
  s.memory = node.memory;
  s.one_queue = node.packet_switch.queues == SwitchQueues::fifo;
  return s;
}

}  // namespace tiersim
