#include "hwmodels/link/hop.hpp"

#include "hwmodels/limits.hpp"
#include "hwmodels/posted.hpp"

namespace tiersim {
namespace {

class Hop final : public Link {
 public:
  explicit Hop(const HopConfig& c) : latency_(c.latency.value * c.crossings.value) {
    if (c.capacity)
      channels_ = {Channel{"to_gpu", c.capacity->value}, Channel{"from_gpu", c.capacity->value}};
  }
  std::span<const Channel> channels() const override { return channels_; }
  AccessCost cost(Direction direction, Bytes payload, Bytes) const override {
    AccessCost cost{.charges = {},
                    .latency = latency_of(direction, latency_),
                    .min_duration = {},
                    .moved = payload};
    const std::size_t channel = direction == Direction::read ? 0 : 1;
    if (!channels_.empty()) cost.charges.push_back({channel, payload});
    return cost;
  }

 private:
  Duration latency_;
  std::vector<Channel> channels_;
};

}  // namespace

void describe(Fields& f, HopConfig& c) {
  f.doc("A root complex or switch: latency, and a capacity where one is stated.");
  f.required("latency", c.latency, "Time that one crossing adds to a read's round trip.",
             latency_limits());
  f.required("crossings", c.crossings, "How many such stages lie on the path.", in_range(0, 16));
  f.optional("capacity", c.capacity, "Payload of one direction; not a limit where absent.",
             bandwidth_limits());
  f.optional("packet_level", c.packet_level,
             "Parameters of an NVLink switch that only the packet level uses.");
}

std::unique_ptr<Link> make_device(const HopConfig& config) {
  return std::make_unique<Hop>(config);
}

void register_hop(Registry<DeviceKind<Link>>& registry) {
  registry.add("hop", {"root complex or switch: latency for each crossing (analytic)",
                       &ConfiguredDevice<Link, HopConfig>::make});
}

}  // namespace tiersim
