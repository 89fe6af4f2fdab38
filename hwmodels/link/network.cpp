#include "hwmodels/link/network.hpp"

#include <algorithm>
#include <array>

#include "hwmodels/limits.hpp"
#include "hwmodels/packets.hpp"
#include "hwmodels/posted.hpp"

namespace tiersim {
namespace {

class Network final : public Link {
 public:
  explicit Network(const NetworkConfig& c)
      : packet_(c.packet.value),
        packet_header_(c.packet_header.value),
        message_header_(c.message_header.value),
        per_message_(Bytes::from_base(c.raw.value.in_base() / c.message_rate.value)),
        latency_(c.latency.value),
        channels_{Channel{"to_gpu", c.raw.value}, Channel{"from_gpu", c.raw.value}} {}

  std::span<const Channel> channels() const override { return channels_; }

  AccessCost cost(Direction direction, Bytes payload, Bytes run) const override {
    const Runs runs = Runs::of(payload, run);
    const Bytes messages = runs.total([&](Bytes length) {
      return std::max(with_headers(length, packet_, packet_header_) + message_header_,
                      per_message_);
    });
    AccessCost cost{.charges = {},
                    .latency = latency_of(direction, latency_),
                    .min_duration = {},
                    .moved = payload};
    if (direction == Direction::write) {
      cost.charges = {{kFromGpu, messages}};
    } else {
      const Bytes request = std::max(packet_header_ + message_header_, per_message_);
      cost.charges = {{kToGpu, messages}, {kFromGpu, request * runs.count()}};
    }
    return cost;
  }

  AccessCost incoming(Bytes payload, Bytes run) const override {
    AccessCost cost = this->cost(Direction::write, payload, run);
    cost.charges.front().channel = kToGpu;
    return cost;
  }

 private:
  Bytes packet_;
  Bytes packet_header_;
  Bytes message_header_;
  Bytes per_message_;  // channel bytes that pass in the time of one message
  Duration latency_;
  std::array<Channel, 2> channels_;
};

}  // namespace

void describe(Fields& f, NetworkConfig& c) {
  f.doc("A network adapter that reads and writes the memory of other nodes.");
  f.required("raw", c.raw, "Data rate of one direction.", bandwidth_limits());
  f.required("packet", c.packet, "Largest payload of one packet (MTU).", packet_limits());
  f.required("packet_header", c.packet_header, "Headers and checks of each packet.",
             header_limits());
  f.required("message_header", c.message_header, "Further headers of each message.",
             header_limits());
  f.required("message_rate", c.message_rate, "Messages a second, each direction.",
             command_rate_limits());
  f.required("latency", c.latency, "Unloaded round trip that it adds to a read.", latency_limits());
  f.optional("packet_level", c.packet_level, "Parameters of the packet level alone.");
}

std::unique_ptr<Link> make_device(const NetworkConfig& config) {
  return std::make_unique<Network>(config);
}

void register_network(Registry<DeviceKind<Link>>& registry) {
  registry.add("network", {"network adapter: messages, packets, two directions (flow)",
                           &ConfiguredDevice<Link, NetworkConfig>::make});
}

}  // namespace tiersim
