#include "hwmodels/link/cxl.hpp"

#include <array>

#include "hwmodels/limits.hpp"
#include "hwmodels/runs.hpp"

namespace tiersim {
namespace {

using namespace literals;

constexpr std::size_t kToGpu = 0;
constexpr std::size_t kFromGpu = 1;
constexpr Bytes kLine = 64_B;
constexpr std::int64_t kHalfSlotsPerTwoFlits = 16;  // 2 flits * 4 slots * 2 halves
constexpr Bytes kTwoFlits = 136_B;

// Flit bytes of so many half slots, rounded up: 8.5 bytes each.
constexpr Bytes half_slots(std::int64_t count) {
  const std::int64_t sixteenths = (kTwoFlits * count).in_base();
  return Bytes::from_base(sixteenths / kHalfSlotsPerTwoFlits +
                          (sixteenths % kHalfSlotsPerTwoFlits != 0 ? 1 : 0));
}

class Cxl final : public Link {
 public:
  explicit Cxl(const CxlConfig& c)
      : latency_(c.latency.value),
        channels_{Channel{"to_gpu", usable(c)}, Channel{"from_gpu", usable(c)}} {}

  std::span<const Channel> channels() const override { return channels_; }

  AccessCost cost(Direction direction, Bytes payload, Bytes run) const override {
    const Bytes moved =
        Runs::of(payload, run).total([](Bytes length) { return round_up(length, kLine); });
    const std::int64_t lines = moved.in_base() / kLine.in_base();
    if (direction == Direction::read)
      return {.charges = {{kToGpu, half_slots(9 * lines)}, {kFromGpu, half_slots(2 * lines)}},
              .latency = latency_,
              .min_duration = {},
              .moved = moved};
    return {.charges = {{kToGpu, half_slots(lines)}, {kFromGpu, half_slots(10 * lines)}},
            .latency = latency_,
            .min_duration = {},
            .moved = moved};
  }

 private:
  static Bandwidth usable(const CxlConfig& c) {
    return scale_down(c.raw.value * c.ports.value, 128.0 / 130.0);
  }

  Duration latency_;
  std::array<Channel, 2> channels_;
};

}  // namespace

void describe(Fields& f, CxlConfig& c) {
  f.doc("CXL.mem ports with 68-byte flits.");
  f.required("raw", c.raw, "Rate of one direction of one port before 128/130 coding.",
             bandwidth_limits());
  f.required("ports", c.ports, "Equal ports that addresses are interleaved over.",
             in_range(1, 1024));
  f.check(c.raw.value / kBandwidthMost * static_cast<double>(c.ports.value) <= 1, "ports",
          "give more than 1000 TB/s together", "fewer ports or a lower raw rate");
  f.required("latency", c.latency, "Unloaded round trip that it adds to a read.", latency_limits());
}

std::unique_ptr<Link> make_device(const CxlConfig& config) {
  return std::make_unique<Cxl>(config);
}

void register_cxl(Registry<DeviceKind<Link>>& registry) {
  registry.add("cxl", {"CXL.mem ports, 68 B flits, two directions (flow)",
                       &ConfiguredDevice<Link, CxlConfig>::make});
}

}  // namespace tiersim
