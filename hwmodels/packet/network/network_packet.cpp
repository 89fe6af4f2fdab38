#include "hwmodels/packet/network/network_packet.hpp"

namespace tiersim {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kPicosecondsASecond = 1'000'000'000'000;

}  // namespace

std::vector<PacketObstacle> packet_obstacles(const NetworkConfig& adapter) {
  if (!adapter.packet_level) return {{"packet_level", "is missing", "what its packets are like"}};
  std::vector<PacketObstacle> out;
  const auto expect = [&](bool ok, const PacketObstacle& obstacle) {
    if (!ok) out.push_back(obstacle);
  };
  const NetworkPacketConfig& packet = *adapter.packet_level;
  expect(packet.flight.value > Duration{},
         {"packet_level.flight", "is 0", "a cable takes some time at packet level"});
  expect(adapter.packet_header.value > Bytes{},
         {"packet_header", "is empty", "an acknowledgement is a header, which takes some time"});
  const Bytes largest =
      adapter.packet.value + adapter.packet_header.value + adapter.message_header.value;
  expect(packet.credits.value == 0 || packet.credit_unit.value * packet.credits.value >= largest,
         {"packet_level.credits", "are too few for one packet with its headers",
          "more, or 0 for no limit"});
  const Duration ends =
      adapter.latency.value / 2 - packet.cut_through.value - 2 * packet.flight.value;
  expect(ends >= 2ns, {"packet_level.cut_through",
                       "and two flights leave less than 1 ns of half the latency to each end",
                       "less, or a longer latency"});
  return out;
}

NvlinkNode node_of(const NetworkConfig& adapter) {
  TS_EXPECTS(packet_obstacles(adapter).empty());
  const NetworkPacketConfig& packet = *adapter.packet_level;
  NvlinkNode out{.port = {.raw = adapter.raw,
                          .efficiency = {1, NumberClass::specification, "headers are counted"},
                          .sector = {Bytes::from_base(1), NumberClass::specification, "any length"},
                          .packet = adapter.packet,
                          .header = adapter.packet_header,
                          .latency = adapter.latency,
                          .packet_level = {}},
                 .packet = {.links = {1, NumberClass::specification, "one port"},
                            .flit = packet.credit_unit,
                            .credits = packet.credits,
                            .ack_every = packet.ack_every,
                            .flight = packet.flight,
                            .credit_return = packet.credit_return},
                 .switch_latency = packet.cut_through,
                 .packet_switch = {.queues = packet.queues},
                 .memory = {},
                 .message_header = adapter.message_header.value,
                 .message_gap = Duration((kPicosecondsASecond + adapter.message_rate.value - 1) /
                                         adapter.message_rate.value)};
  // The switch is a part of the adapter's latency, and beside it in a node of NVLink.
  out.switch_latency.value = 2 * packet.cut_through.value;
  out.port.latency.value -= out.switch_latency.value;
  return out;
}

}  // namespace tiersim
