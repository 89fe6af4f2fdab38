#include "hwmodels/link/nvlink.hpp"

#include <array>

#include "hwmodels/limits.hpp"
#include "hwmodels/packet/nvlink/nvlink_packet.hpp"
#include "hwmodels/packets.hpp"
#include "hwmodels/posted.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kEjection = 0;
constexpr std::size_t kInjection = 1;

class Nvlink final : public Link {
 public:
  explicit Nvlink(const NvlinkConfig& c)
      : sector_(c.sector.value),
        packet_(c.packet.value),
        header_(c.header.value),
        latency_(c.latency.value),
        channels_{Channel{"ejection", scale_down(c.raw.value, c.efficiency.value)},
                  Channel{"injection", scale_down(c.raw.value, c.efficiency.value)}} {}

  std::span<const Channel> channels() const override { return channels_; }

  AccessCost cost(Direction direction, Bytes payload, Bytes run) const override {
    const Runs runs = Runs::of(payload, run);
    const Bytes moved = runs.total([&](Bytes length) { return round_up(length, sector_); });
    const Bytes headers = runs.total(
        [&](Bytes length) { return header_ * packets_of(round_up(length, sector_), packet_); });
    AccessCost cost{.charges = {},
                    .latency = latency_of(direction, latency_),
                    .min_duration = {},
                    .moved = moved};
    if (direction == Direction::read)
      cost.charges = {{kEjection, moved + headers}, {kInjection, headers}};
    else
      cost.charges = {{kInjection, moved + headers}};
    return cost;
  }

  AccessCost incoming(Bytes payload, Bytes run) const override {
    AccessCost cost = this->cost(Direction::write, payload, run);
    cost.charges.front().channel = kEjection;
    return cost;
  }

 private:
  Bytes sector_;
  Bytes packet_;
  Bytes header_;
  Duration latency_;
  std::array<Channel, 2> channels_;
};

}  // namespace

void describe(Fields& f, NvlinkConfig& c) {
  f.doc("All NVLinks of one GPU, or one chip-to-chip NVLink.");
  f.required("raw", c.raw, "Data-sheet rate of one direction, all links together.",
             bandwidth_limits());
  f.required("efficiency", c.efficiency, "Share of raw left for packets, their headers included.",
             share_limits());
  f.required("sector", c.sector, "Smallest access that it moves.",
             in_range(Bytes::from_base(1), Bytes::from_base(4096)));
  f.required("packet", c.packet, "Largest payload of one packet.", packet_limits());
  f.required("header", c.header, "Header of a packet, and size of a read request.",
             header_limits());
  f.required("latency", c.latency, "Unloaded round trip that it adds to a read.", latency_limits());
  f.optional("packet_level", c.packet_level, "Parameters of the packet level alone.");
  f.check(!c.packet_level || c.packet_level->flight.value > Duration{}, "packet_level.flight",
          "is 0", "a wire takes some time at packet level");
}

std::vector<PacketObstacle> packet_obstacles(const NvlinkConfig& port) {
  std::vector<PacketObstacle> out;
  const auto expect = [&](bool ok, const PacketObstacle& obstacle) {
    if (!ok) out.push_back(obstacle);
  };
  if (!port.packet_level) return {{"packet_level", "is missing", "what its packets are like"}};
  const NvlinkPacketConfig& packet = *port.packet_level;
  expect(port.packet.value >= port.sector.value,
         {"packet", "is smaller than a sector", "the packet level sends whole sectors"});
  expect(port.header.value > Bytes{},
         {"header", "is empty", "a request is a header, which takes some time at packet level"});
  const Bytes largest = round_up(port.packet.value, port.sector.value) + port.header.value;
  expect(packet.credits.value == 0 || packet.flit.value * packet.credits.value >= largest,
         {"packet_level.credits", "are too few for one packet with its header",
          "more, or 0 for no limit"});
  expect(leaves_endpoints(port, packet),
         {"packet_level.flight", "leaves less than 1 ns of the port's latency to each of its ends",
          "below a quarter of the latency"});
  expect(scale_down(port.raw.value, port.efficiency.value).in_base() >= packet.links.value,
         {"packet_level.links", "have less than 1 B/s each", "fewer links or a higher raw rate"});
  return out;
}

std::unique_ptr<Link> make_device(const NvlinkConfig& config) {
  return std::make_unique<Nvlink>(config);
}

void register_nvlink(Registry<DeviceKind<Link>>& registry) {
  registry.add("nvlink", {"NVLink port or chip-to-chip: injection and ejection (flow)",
                          &ConfiguredDevice<Link, NvlinkConfig>::make});
}

}  // namespace tiersim
