#include "hwmodels/memory/nvme.hpp"

#include <algorithm>
#include <array>

#include "hwmodels/limits.hpp"
#include "hwmodels/portions.hpp"
#include "hwmodels/runs.hpp"

namespace tiersim {
namespace {

class Nvme final : public MemoryTier {
 public:
  explicit Nvme(const NvmeConfig& c)
      : capacity_(c.capacity.value),
        block_(c.block.value),
        queue_depth_(c.queue_depth.value),
        sides_{
            Side{c.read_latency.value, per_command(c.read_bandwidth.value, c.read_iops.value)},
            Side{c.write_latency.value, per_command(c.write_bandwidth.value, c.write_iops.value)}},
        channels_{Channel{"read", c.read_bandwidth.value},
                  Channel{"write", c.write_bandwidth.value}} {}

  Bytes capacity() const override { return capacity_; }
  std::span<const Channel> channels() const override { return channels_; }

  AccessCost cost(Direction direction, Bytes payload, Bytes run) const override {
    const std::size_t channel = direction == Direction::read ? 0 : 1;
    const Side& side = sides_[channel];
    const Runs runs = Runs::of(payload, run);
    const auto blocks = [&](Bytes length) { return round_up(length, block_); };
    return {.charges = {{channel, runs.total([&](Bytes length) {
                           return std::max(blocks(length), side.per_command);
                         })}},
            .latency = side.latency,
            .min_duration = portions_time(side.latency, runs.count(), queue_depth_),
            .moved = runs.total(blocks)};
  }

 private:
  struct Side {
    Duration latency;
    Bytes per_command;  // channel bytes that pass in the time of one command
  };

  static Bytes per_command(Bandwidth bandwidth, std::int64_t iops) {
    return Bytes::from_base((bandwidth.in_base() + iops - 1) / iops);
  }

  Bytes capacity_;
  Bytes block_;
  std::int64_t queue_depth_;
  std::array<Side, 2> sides_;
  std::array<Channel, 2> channels_;
};

}  // namespace

void describe(Fields& f, NvmeConfig& c) {
  f.doc("A solid-state drive, or several as one.");
  f.required("capacity", c.capacity, "Bytes that it holds.", positive());
  f.required("read_bandwidth", c.read_bandwidth, "Sustained sequential reads.", bandwidth_limits());
  f.required("write_bandwidth", c.write_bandwidth, "Sustained sequential writes.",
             bandwidth_limits());
  f.required("read_iops", c.read_iops, "Random reads a second, one block each.",
             command_rate_limits());
  f.required("write_iops", c.write_iops, "Random writes a second, one block each.",
             command_rate_limits());
  f.required("block", c.block, "Smallest access that it moves.",
             in_range(Bytes::from_base(1), Bytes::from_base(1 << 20)));
  f.required("read_latency", c.read_latency, "Unloaded time of one read.", latency_limits());
  f.required("write_latency", c.write_latency, "Unloaded time until one write is safe.",
             latency_limits());
  f.required("queue_depth", c.queue_depth, "Commands that wait at a time, all queues together.",
             outstanding_limits());
}

NvmeConfig side_by_side(NvmeConfig config, std::int64_t units) {
  config.capacity.value = config.capacity.value * units;
  for (Sourced<Bandwidth>* rate : {&config.read_bandwidth, &config.write_bandwidth})
    rate->value = rate->value * units;
  for (Sourced<std::int64_t>* count : {&config.read_iops, &config.write_iops, &config.queue_depth})
    count->value *= units;
  return config;
}

std::unique_ptr<MemoryTier> make_device(const NvmeConfig& config) {
  return std::make_unique<Nvme>(config);
}

void register_nvme(Registry<DeviceKind<MemoryTier>>& registry) {
  registry.add("nvme", {"solid-state drive: bandwidth, command rate and queue depth (flow)",
                        &ConfiguredDevice<MemoryTier, NvmeConfig>::make});
}

}  // namespace tiersim
