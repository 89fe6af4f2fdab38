#include "hwmodels/link/pcie.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "hwmodels/limits.hpp"
#include "hwmodels/packet/pcie/from_flow.hpp"
#include "hwmodels/packet/pcie/pcie_streams.hpp"
#include "hwmodels/packets.hpp"
#include "hwmodels/posted.hpp"

namespace tiersim {
namespace {

using namespace literals;

class Pcie final : public Link {
 public:
  explicit Pcie(const PcieConfig& c)
      : max_payload_(c.max_payload.value),
        max_read_request_(c.max_read_request.value),
        max_completion_(c.max_completion ? c.max_completion->value : c.max_payload.value),
        request_header_(c.request_header.value),
        completion_header_(c.completion_header.value),
        latency_(c.latency.value),
        channels_{{"to_gpu", scale_down(c.raw.value, c.link_efficiency.value)},
                  {"from_gpu", scale_down(c.raw.value, c.link_efficiency.value)}} {
    if (c.both_directions) channels_.push_back({"both_directions", c.both_directions->value});
  }

  std::span<const Channel> channels() const override { return channels_; }

  AccessCost cost(Direction direction, Bytes payload, Bytes run) const override {
    const Runs runs = Runs::of(payload, run);
    AccessCost cost{.charges = {},
                    .latency = latency_of(direction, latency_),
                    .min_duration = {},
                    .moved = payload};
    if (direction == Direction::write) {
      cost.charges = {{kFromGpu, runs.total([&](Bytes length) {
                         return with_headers(length, max_payload_, request_header_);
                       })}};
      return shared_by_both(cost);
    }
    const Bytes answers = runs.total(
        [&](Bytes length) { return with_headers(length, max_completion_, completion_header_); });
    const Bytes requests = runs.total(
        [&](Bytes length) { return request_header_ * packets_of(length, max_read_request_); });
    cost.charges = {{kToGpu, answers}, {kFromGpu, requests}};
    return shared_by_both(cost);
  }

 private:
  AccessCost shared_by_both(AccessCost cost) const {
    if (channels_.size() <= kBoth) return cost;
    Bytes wire;
    for (const Charge& charge : cost.charges) wire = wire + charge.busy;
    cost.charges.push_back({kBoth, wire});
    return cost;
  }

  static constexpr std::size_t kBoth = 2;
  Bytes max_payload_;
  Bytes max_read_request_;
  Bytes max_completion_;
  Bytes request_header_;
  Bytes completion_header_;
  Duration latency_;
  std::vector<Channel> channels_;
};

// Values that the Device Control register can hold: three bits for each of the two sizes.
Limits register_limits() {
  return in_range(128_B, 4096_B);
}
void check_power_of_two(Fields& f, std::string_view key, Bytes size) {
  f.check(std::has_single_bit(static_cast<std::uint64_t>(size.in_base())), key,
          "is no power of two", "128 B to 4096 B in the PCI Express base specification");
}

}  // namespace

void describe(Fields& f, PcieConfig& c) {
  f.doc("One PCI Express link between a GPU and a root complex or switch.");
  f.required("raw", c.raw, "Rate of one direction after line coding.", bandwidth_limits());
  f.required("link_efficiency", c.link_efficiency,
             "Share of raw left for transaction packets beside ACK, flow control and SKIP; in flit "
             "mode 236/256.",
             share_limits());
  f.required("max_payload", c.max_payload, "Largest payload of one packet (MPS), a power of two.",
             register_limits());
  f.required("max_read_request", c.max_read_request, "Largest read request (MRRS), a power of two.",
             register_limits());
  f.optional("max_completion", c.max_completion,
             "Largest payload of one completion; max_payload where absent.", packet_limits());
  f.optional("request_header", c.request_header, "Header of a read request or posted write.",
             header_limits());
  f.optional("completion_header", c.completion_header, "Header of a completion with data.",
             header_limits());
  f.required("latency", c.latency, "Unloaded round trip that it adds to a read.", latency_limits());
  f.optional("both_directions", c.both_directions,
             "Wire bytes of both directions together; each has its own rate alone where absent.",
             bandwidth_limits());
  f.optional("packet_level", c.packet_level, "Parameters of the packet level alone.");
  if (c.packet_level) check_packets_fit(f, with_flow(*c.packet_level, c), "packet_level.");
  check_power_of_two(f, "max_payload", c.max_payload.value);
  check_power_of_two(f, "max_read_request", c.max_read_request.value);
}

std::unique_ptr<Link> make_device(const PcieConfig& config) {
  return std::make_unique<Pcie>(config);
}

std::optional<PacketModel> make_packets(const PcieConfig& config) {
  if (!config.packet_level) return std::nullopt;
  PciePacketConfig packet = with_flow(*config.packet_level, config);
  packet.fabric_switch.reset();
  return PacketModel{.latency = std::min(config.latency.value, unloaded_read(packet)),
                     .make = [packet](Engine& engine, std::size_t) {
                       return std::make_unique<PcieStreams>(engine, packet);
                     }};
}

void register_pcie(Registry<DeviceKind<Link>>& registry) {
  registry.add("pcie", {"PCI Express: packet headers, two directions (flow)",
                        &ConfiguredDevice<Link, PcieConfig>::make});
}

}  // namespace tiersim
