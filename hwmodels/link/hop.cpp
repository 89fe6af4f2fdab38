#include "hwmodels/link/hop.hpp"

#include "hwmodels/limits.hpp"

namespace tiersim {
namespace {

class Hop final : public Link {
 public:
  explicit Hop(const HopConfig& c) : latency_(c.latency.value * c.crossings.value) {}
  std::span<const Channel> channels() const override { return {}; }
  AccessCost cost(Direction, Bytes payload, Bytes) const override {
    return {.charges = {}, .latency = latency_, .min_duration = {}, .moved = payload};
  }

 private:
  Duration latency_;
};

}  // namespace

void describe(Fields& f, HopConfig& c) {
  f.doc("A root complex or switch: latency only.");
  f.required("latency", c.latency, "Time that one crossing adds to a read's round trip.",
             latency_limits());
  f.required("crossings", c.crossings, "How many such stages lie on the path.", in_range(0, 16));
}

std::unique_ptr<Link> make_device(const HopConfig& config) {
  return std::make_unique<Hop>(config);
}

void register_hop(Registry<DeviceKind<Link>>& registry) {
  registry.add("hop", {"root complex or switch: latency for each crossing (analytic)",
                       &ConfiguredDevice<Link, HopConfig>::make});
}

}  // namespace tiersim
