#include "hwmodels/memory/dram.hpp"

#include <algorithm>
#include <cmath>

#include "hwmodels/limits.hpp"
#include "hwmodels/packet/dram/dram_streams.hpp"
#include "hwmodels/runs.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kBus = 0;
constexpr std::size_t kWrite = 1;

class Dram final : public MemoryTier {
 public:
  explicit Dram(const DramConfig& c)
      : capacity_(c.capacity.value),
        atom_(c.atom.value),
        interleave_(c.interleave.value),
        read_efficiency_(c.read_efficiency.value),
        write_efficiency_(c.write_efficiency.value),
        latency_(c.latency.value),
        row_bytes_(bus_bytes_in(c.row_time.value, c)),
        partial_row_bytes_(
            bus_bytes_in(c.partial_write_time ? c.partial_write_time->value : c.row_time.value, c)),
        channels_{Channel{"bus", c.peak.value}} {
    if (c.write_limit)
      channels_.push_back({"write", scale_down(c.peak.value, c.write_limit->value)});
    if (c.queueing) queueing_.emplace(c.queueing->lines(), c.peak.value);
  }

  Bytes capacity() const override { return capacity_; }
  std::span<const Channel> channels() const override { return channels_; }
  Duration added_latency(Bandwidth rate, double read_share, Bytes run) const override {
    return queueing_ ? queueing_->at(rate, read_share, run) : Duration{};
  }

  AccessCost cost(Direction direction, Bytes payload, Bytes run) const override {
    const bool read = direction == Direction::read;
    const double efficiency = read ? read_efficiency_ : write_efficiency_;
    const Runs runs = Runs::of(payload, run);
    const Bytes moved = runs.total([&](Bytes length) { return round_up(length, atom_); });
    // Where a run is not a whole number of atoms, its last atom is written in part.
    const std::int64_t last_row =
        read || round_up(run, atom_) == run ? row_bytes_ : partial_row_bytes_;
    const Bytes busy =
        runs.total([&](Bytes length) { return bus_bytes(length, efficiency, last_row); });
    AccessCost cost{
        .charges = {{kBus, busy}}, .latency = latency_, .min_duration = {}, .moved = moved};
    if (!read && channels_.size() > kWrite) cost.charges.push_back({kWrite, moved});
    return cost;
  }

 private:
  // Bus bytes that pass while a pseudo channel is busy for `time`.
  static std::int64_t bus_bytes_in(Duration time, const DramConfig& c) {
    const double share = to_seconds(time) / static_cast<double>(c.channels());
    return scale_up(c.peak.value, share).in_base();
  }

  // Each chunk of a run lies in one row of one pseudo channel.
  Bytes bus_bytes(Bytes run, double efficiency, std::int64_t last_row) const {
    const auto of_chunk = [&](Bytes length, std::int64_t row) {
      return std::max(scale_up(round_up(length, atom_), 1.0 / efficiency), Bytes::from_base(row));
    };
    const Bytes chunk = std::min(round_up(run, atom_), interleave_);
    const Runs chunks = Runs::of(std::max(run, chunk), chunk);
    const Bytes last = chunks.rest > Bytes{} ? chunks.rest : chunk;
    return chunks.total([&](Bytes length) { return of_chunk(length, row_bytes_); }) -
           of_chunk(last, row_bytes_) + of_chunk(last, last_row);
  }

  Bytes capacity_;
  Bytes atom_;
  Bytes interleave_;
  double read_efficiency_;
  double write_efficiency_;
  Duration latency_;
  std::int64_t row_bytes_;          // bus bytes that pass while one row is opened
  std::int64_t partial_row_bytes_;  // bus bytes that pass while a partial atom is written
  std::vector<Channel> channels_;
  std::optional<LoadedLatency> queueing_;
};

}  // namespace

void describe(Fields& f, DramConfig& c) {
  f.doc("A DRAM: HBM, GDDR or DDR, as one shared capacity.");
  f.required("capacity", c.capacity, "Bytes that it holds.", positive());
  f.required("peak", c.peak, "Data-sheet bandwidth, all channels together.", bandwidth_limits());
  f.optional("channel_peak", c.channel_peak,
             "Data-sheet bandwidth of one pseudo channel; their number follows from peak.",
             bandwidth_limits());
  f.optional("pseudo_channels", c.pseudo_channels,
             "Independent channels that open rows on their own, at any peak.", in_range(1, 4096));
  f.check(c.channel_peak.has_value() != c.pseudo_channels.has_value(), "",
          c.channel_peak ? "has both channel_peak and pseudo_channels"
                         : "has neither channel_peak nor pseudo_channels",
          "state one of the two; `~` removes the key of a base");
  f.required("atom", c.atom, "Smallest access that it moves.",
             in_range(Bytes::from_base(1), Bytes::from_base(4096)));
  f.required("interleave", c.interleave, "Consecutive bytes that lie in one pseudo channel.",
             in_range(Bytes::from_base(1), Bytes::from_base(1 << 20)));
  f.required("read_efficiency", c.read_efficiency, "Sustained share of peak, reads.",
             share_limits());
  f.required("write_efficiency", c.write_efficiency, "Sustained share of peak, writes among reads.",
             share_limits());
  f.optional("write_limit", c.write_limit,
             "Share of peak that writes alone reach; none where absent.", share_limits());
  f.required("row_time", c.row_time, "Time between two row accesses of one pseudo channel.",
             in_range(Duration(0), std::chrono::milliseconds(1)));
  f.optional("partial_write_time", c.partial_write_time,
             "The same where a part of an atom is written; as any row access where absent.",
             in_range(Duration(0), std::chrono::milliseconds(1)));
  f.check(!c.partial_write_time || c.partial_write_time->value >= c.row_time.value,
          "partial_write_time", "is below row_time", "it reads the atom first");
  f.required("latency", c.latency, "Unloaded time to the first byte.", latency_limits());
  f.optional("queueing", c.queueing, "Latency under load; none is added where absent.");
  f.optional("packet_level", c.packet_level, "One of its stacks or modules at packet level.");
  f.check(!c.packet_level || c.packet_level->atom.value == Bytes{} ||
              c.interleave.value.in_base() % c.packet_level->atom.value.in_base() == 0,
          "interleave", "is no multiple of the atom of its packets", "whole atoms");
  f.check(c.interleave.value >= c.atom.value, "interleave", "is smaller than the atom",
          "an atom lies in one pseudo channel");
}

std::int64_t DramConfig::channels() const {
  if (pseudo_channels) return pseudo_channels->value;
  return std::max<std::int64_t>(1, std::llround(peak.value / channel_peak->value));
}

DramConfig side_by_side(DramConfig config, std::int64_t units) {
  config.capacity.value = config.capacity.value * units;
  config.peak.value = config.peak.value * units;
  if (config.pseudo_channels) config.pseudo_channels->value *= units;
  return config;
}

std::unique_ptr<MemoryTier> make_device(const DramConfig& config) {
  return std::make_unique<Dram>(config);
}

std::optional<PacketModel> make_packets(const DramConfig& config) {
  if (!config.packet_level) return std::nullopt;
  const DramPacketConfig& packet = *config.packet_level;
  const DramShape shape(*AddressMap::make(packet.address_map));
  const double stack = static_cast<double>(channel_peak(packet).in_base()) *
                       static_cast<double>(shape.pseudo_channels);
  const double share = std::min(1.0, stack / static_cast<double>(config.peak.value.in_base()));
  const double limit = config.write_limit ? config.write_limit->value : 0;
  return PacketModel{
      .latency = std::min(config.latency.value, DramClocks(packet.timings).row_latency()),
      .make = [packet, share, limit](Engine& engine, std::size_t) {
        return std::make_unique<DramStreams>(engine, packet, share, limit);
      }};
}

void register_dram(Registry<DeviceKind<MemoryTier>>& registry) {
  registry.add("dram", {"HBM, GDDR or DDR: granule, efficiency, row rate and queueing (flow)",
                        &ConfiguredDevice<MemoryTier, DramConfig>::make});
}

}  // namespace tiersim
