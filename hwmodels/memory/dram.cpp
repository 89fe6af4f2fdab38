#include "hwmodels/memory/dram.hpp"

#include <algorithm>
#include <array>

#include "hwmodels/limits.hpp"
#include "hwmodels/runs.hpp"

namespace tiersim {
namespace {

class Dram final : public MemoryTier {
 public:
  explicit Dram(const DramConfig& c)
      : capacity_(c.capacity.value),
        atom_(c.atom.value),
        interleave_(c.interleave.value),
        read_efficiency_(c.read_efficiency.value),
        write_efficiency_(c.write_efficiency.value),
        latency_(c.latency.value),
        row_bytes_(scale_up(c.peak.value, to_seconds(c.row_time.value) /
                                              static_cast<double>(c.pseudo_channels.value))
                       .in_base()),
        channels_{Channel{"bus", c.peak.value}} {}

  Bytes capacity() const override { return capacity_; }
  std::span<const Channel> channels() const override { return channels_; }

  AccessCost cost(Direction direction, Bytes payload, Bytes run) const override {
    const double efficiency = direction == Direction::read ? read_efficiency_ : write_efficiency_;
    const Runs runs = Runs::of(payload, run);
    const Bytes moved = runs.total([&](Bytes length) { return round_up(length, atom_); });
    const Bytes busy = runs.total([&](Bytes length) { return bus_bytes(length, efficiency); });
    return {.charges = {{0, busy}}, .latency = latency_, .min_duration = {}, .moved = moved};
  }

 private:
  // Each chunk of a run lies in one row of one pseudo channel.
  Bytes bus_bytes(Bytes run, double efficiency) const {
    const Bytes chunk = std::min(round_up(run, atom_), interleave_);
    return Runs::of(std::max(run, chunk), chunk).total([&](Bytes length) {
      return std::max(scale_up(round_up(length, atom_), 1.0 / efficiency),
                      Bytes::from_base(row_bytes_));
    });
  }

  Bytes capacity_;
  Bytes atom_;
  Bytes interleave_;
  double read_efficiency_;
  double write_efficiency_;
  Duration latency_;
  std::int64_t row_bytes_;  // bus bytes that pass while one row is opened
  std::array<Channel, 1> channels_;
};

}  // namespace

void describe(Fields& f, DramConfig& c) {
  f.doc("A DRAM: HBM, GDDR or DDR, as one shared capacity.");
  f.required("capacity", c.capacity, "Bytes that it holds.", positive());
  f.required("peak", c.peak, "Data-sheet bandwidth, all channels together.", bandwidth_limits());
  f.required("pseudo_channels", c.pseudo_channels,
             "Independent channels that open rows on their own.", in_range(1, 4096));
  f.required("atom", c.atom, "Smallest access that it moves.",
             in_range(Bytes::from_base(1), Bytes::from_base(4096)));
  f.required("interleave", c.interleave, "Consecutive bytes that lie in one pseudo channel.",
             in_range(Bytes::from_base(1), Bytes::from_base(1 << 20)));
  f.required("read_efficiency", c.read_efficiency, "Sustained share of peak, reads.",
             in_range(0.01, 1.0));
  f.required("write_efficiency", c.write_efficiency, "Sustained share of peak, writes among reads.",
             in_range(0.01, 1.0));
  f.required("row_time", c.row_time, "Time between two row accesses of one pseudo channel.",
             in_range(Duration(0), std::chrono::milliseconds(1)));
  f.required("latency", c.latency, "Unloaded time to the first byte.", latency_limits());
  f.check(c.interleave.value >= c.atom.value, "interleave", "is smaller than the atom",
          "an atom lies in one pseudo channel");
}

std::unique_ptr<MemoryTier> make_device(const DramConfig& config) {
  return std::make_unique<Dram>(config);
}

void register_dram(Registry<DeviceKind<MemoryTier>>& registry) {
  registry.add("dram", {"HBM, GDDR or DDR: granule, efficiency and row rate (flow)",
                        &ConfiguredDevice<MemoryTier, DramConfig>::make});
}

}  // namespace tiersim
