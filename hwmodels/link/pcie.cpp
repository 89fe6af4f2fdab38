#include "hwmodels/link/pcie.hpp"

#include <array>

#include "hwmodels/limits.hpp"
#include "hwmodels/runs.hpp"

namespace tiersim {
namespace {

using namespace literals;

constexpr std::size_t kToGpu = 0;
constexpr std::size_t kFromGpu = 1;
constexpr Bytes kRequestHeader = 24_B;     // MRd and MWr, with framing and LCRC
constexpr Bytes kCompletionHeader = 20_B;  // CplD, likewise

class Pcie final : public Link {
 public:
  explicit Pcie(const PcieConfig& c)
      : max_payload_(c.max_payload.value),
        max_read_request_(c.max_read_request.value),
        latency_(c.latency.value),
        channels_{Channel{"to_gpu", scale_down(c.raw.value, c.link_efficiency.value)},
                  Channel{"from_gpu", scale_down(c.raw.value, c.link_efficiency.value)}} {}

  std::span<const Channel> channels() const override { return channels_; }

  AccessCost cost(Direction direction, Bytes payload, Bytes run) const override {
    const Runs runs = Runs::of(payload, run);
    const auto with_headers = [&](Bytes packet, Bytes header) {
      return runs.total([&](Bytes length) { return length + header * packets(length, packet); });
    };
    if (direction == Direction::write)
      return {.charges = {{kFromGpu, with_headers(max_payload_, kRequestHeader)}},
              .latency = latency_,
              .min_duration = {},
              .moved = payload};
    const Bytes requests = runs.total(
        [&](Bytes length) { return kRequestHeader * packets(length, max_read_request_); });
    return {
        .charges = {{kToGpu, with_headers(max_payload_, kCompletionHeader)}, {kFromGpu, requests}},
        .latency = latency_,
        .min_duration = {},
        .moved = payload};
  }

 private:
  static std::int64_t packets(Bytes length, Bytes packet) {
    return Runs::of(std::max(length, packet), packet).count();
  }

  Bytes max_payload_;
  Bytes max_read_request_;
  Duration latency_;
  std::array<Channel, 2> channels_;
};

}  // namespace

void describe(Fields& f, PcieConfig& c) {
  f.doc("One PCI Express link between a GPU and a root complex or switch.");
  f.required("raw", c.raw, "Rate of one direction after line coding.", bandwidth_limits());
  f.required("link_efficiency", c.link_efficiency,
             "Share of raw left for transaction packets beside ACK, flow control and SKIP.",
             in_range(0.01, 1.0));
  f.required("max_payload", c.max_payload, "Largest payload of one packet (MPS).", positive());
  f.required("max_read_request", c.max_read_request, "Largest read request (MRRS).", positive());
  f.required("latency", c.latency, "Unloaded round trip that it adds to a read.", latency_limits());
}

std::unique_ptr<Link> make_device(const PcieConfig& config) {
  return std::make_unique<Pcie>(config);
}

void register_pcie(Registry<DeviceKind<Link>>& registry) {
  registry.add("pcie", {"PCI Express: packet headers, two directions (flow)",
                        &ConfiguredDevice<Link, PcieConfig>::make});
}

}  // namespace tiersim
