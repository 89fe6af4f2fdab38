#include "hwmodels/link/cxl.hpp"

#include <algorithm>

#include "hwmodels/limits.hpp"
#include "hwmodels/packet/cxl/cxl_streams.hpp"
#include "hwmodels/packet/cxl/from_flow.hpp"
#include "hwmodels/posted.hpp"
#include "hwmodels/runs.hpp"

namespace tiersim {
namespace {

using namespace literals;

constexpr std::size_t kReads = 2;
constexpr Bytes kLine = 64_B;
constexpr Bytes kSmallFlit = 68_B;

class Cxl final : public Link {
 public:
  explicit Cxl(const CxlConfig& c)
      : flit_(c.flit.value),
        half_slots_(c.flit.value == kSmallFlit ? 8 : 30),
        latency_(c.latency.value),
        channels_{Channel{"to_gpu", usable(c)}, Channel{"from_gpu", usable(c)}} {
    if (c.reads_in_flight) channels_.push_back({"reads", rate_in_flight(c)});
    if (c.queueing) queueing_.emplace(c.queueing->lines(), c.raw.value * c.port_count());
  }

  std::span<const Channel> channels() const override { return channels_; }
  Duration added_latency(Bandwidth rate, double read_share, Bytes run) const override {
    return queueing_ ? queueing_->at(rate, read_share, run) : Duration{};
  }

  AccessCost cost(Direction direction, Bytes payload, Bytes run) const override {
    const bool read = direction == Direction::read;
    const Bytes moved =
        Runs::of(payload, run).total([](Bytes length) { return round_up(length, kLine); });
    const std::int64_t lines = moved.in_base() / kLine.in_base();
    AccessCost cost{.charges = {{kToGpu, flit_bytes((read ? 9 : 1) * lines)},
                                {kFromGpu, flit_bytes((read ? 2 : 10) * lines)}},
                    .latency = latency_of(direction, latency_),
                    .min_duration = {},
                    .moved = moved};
    if (read && channels_.size() > kReads) cost.charges.push_back({kReads, moved});
    return cost;
  }

 private:
  static Bandwidth usable(const CxlConfig& c) {
    const double coding = c.flit.value == kSmallFlit ? 128.0 / 130.0 : 1.0;
    return scale_down(c.raw.value * c.port_count(), coding);
  }
  // Clamped: below 1 KB/s a channel has no capacity; above the largest bandwidth there is no limit.
  static Bandwidth rate_in_flight(const CxlConfig& c) {
    const CxlReadsInFlight& reads = *c.reads_in_flight;
    const Int128 bytes = Int128{kLine.in_base()} * reads.lines.value * c.port_count();
    const Int128 rate = bytes * kPicosecondsPerSecond / reads.time.value.count();
    return Bandwidth::from_base(static_cast<std::int64_t>(
        std::clamp(rate, Int128{1000}, Int128{kBandwidthMost.in_base()})));
  }

  // Wire bytes of this many half slots, rounded up; a half slot of a 68 B flit takes 8.5 bytes.
  Bytes flit_bytes(std::int64_t half_slots) const {
    const std::int64_t parts = (flit_ * half_slots).in_base();
    return Bytes::from_base(parts / half_slots_ + (parts % half_slots_ != 0 ? 1 : 0));
  }

  Bytes flit_;
  std::int64_t half_slots_;  // half slots in a flit
  Duration latency_;
  std::vector<Channel> channels_;
  std::optional<LoadedLatency> queueing_;
};

}  // namespace

void describe(Fields& f, CxlReadsInFlight& c) {
  f.doc("How many reads a port keeps in flight.");
  f.required("lines", c.lines, "Lines requested and not yet answered, one port.",
             outstanding_limits());
  f.required("time", c.time, "Time that one of them takes from request to answer at the port.",
             in_range(Duration(1000), Duration(kPicosecondsPerSecond)));
}

void describe(Fields& f, CxlConfig& c) {
  f.doc("CXL.mem ports.");
  f.required("raw", c.raw, "Rate of one direction of one port before coding.", bandwidth_limits());
  f.optional(
      "ports", c.ports,
      "Number of equal ports that addresses are interleaved over. Where it is absent, each of "
      "the units of the tier behind the link has a port.",
      in_range(1, 1024));
  f.check(c.raw.value / kBandwidthMost * static_cast<double>(c.port_count()) <= 1, "ports",
          "give more than 1000 TB/s together", "fewer ports or a lower raw rate");
  f.optional("flit", c.flit, "Size of a flit: 68 B up to CXL 2.0, 256 B from CXL 3.0 on.",
             one_of({"68 B", "256 B"}));
  f.required("latency", c.latency, "Unloaded round trip that it adds to a read.", latency_limits());
  f.optional("reads_in_flight", c.reads_in_flight, "Not a limit where absent.");
  f.optional("queueing", c.queueing,
             "Latency under load, where 1 is raw of all ports; none is added where absent.");
  f.optional("packet_level", c.packet_level, "Parameters of the packet level alone.");
}

CxlConfig side_by_side(CxlConfig config, std::int64_t units) {
  if (!config.ports) config.ports = Sourced<std::int64_t>{.value = units};
  return config;
}

std::unique_ptr<Link> make_device(const CxlConfig& config) {
  return std::make_unique<Cxl>(config);
}

std::optional<PacketModel> make_packets(const CxlConfig& config) {
  if (!config.packet_level) return std::nullopt;
  const CxlPacketConfig packet = with_flow(*config.packet_level, config);
  const auto ports = static_cast<std::size_t>(config.port_count());
  return PacketModel{.latency = std::min(config.latency.value, unloaded_line(packet)),
                     .make = [packet, ports](Engine& engine, std::size_t sharers) {
                       return std::make_unique<CxlStreams>(engine, packet, ports, sharers);
                     }};
}

void register_cxl(Registry<DeviceKind<Link>>& registry) {
  registry.add("cxl", {"CXL.mem ports: flits, slots, two directions (flow)",
                       &ConfiguredDevice<Link, CxlConfig>::make});
}

}  // namespace tiersim
