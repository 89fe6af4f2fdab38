#pragma once
// The demand of work on one replica's hardware: its time alone on the system, its use of every
// channel and its traffic through every device. All are sums of whole numbers, so that an
// iteration's demand can be added up from its parts.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/step/system.hpp"

namespace tiersim {

class Demand {
 public:
  Demand() = default;
  /// No work on this system.
  explicit Demand(const System& system)
      : channels_(system.channels().size()),
        devices_(system.device_names().size()),
        numbers_(kFirstChannel + channels_ + 3 * devices_) {}

  Duration time() const { return Duration(numbers_[kTime]); }
  void set_time(Duration time) { numbers_[kTime] = time.count(); }
  /// Number of kernels that are launched, on GPUs of the kind with most.
  std::int64_t kernels() const {
    return std::max(numbers_[kKernels], numbers_[kKernels + kOfRole]);
  }
  std::size_t channels() const { return channels_; }
  /// Used capacity of the channel, by all GPUs of the replica that share one instance of it.
  Bytes busy(ChannelId channel) const {
    return Bytes::from_base(numbers_[kFirstChannel + channel.index()]);
  }
  /// Payload through the device, by the same GPUs.
  Bytes payload(DeviceId device, Direction direction) const {
    return Bytes::from_base(numbers_[place(device, direction)]);
  }

  // The work of one GPU of a kind that takes energy.
  /// Thousands of FLOPs as their energy counts (OpPlan::powered_flops).
  std::int64_t powered_kiloflops(GpuRole role) const { return numbers_[of(role, kKiloflops)]; }
  /// Time for which the GPU takes its active_power.
  Duration active(GpuRole role) const { return Duration(numbers_[of(role, kActive)]); }
  /// Time of its kernels, alone on the system.
  Duration computing(GpuRole role) const { return Duration(numbers_[of(role, kComputing)]); }
  /// Bytes in whole granules of the device, in both directions.
  Bytes moved(DeviceId device) const {
    return Bytes::from_base(numbers_[kFirstChannel + channels_ + 2 * devices_ + device.index()]);
  }

  /// Adds one operation after the others.
  void add(const OpPlan& plan, const System& system);
  /// Adds another demand `times` times after the others.
  void add(const Demand& other, std::int64_t times = 1);
  /// Adds the linear interpolation from `low` to `high` at `part` / `whole`.
  void add_between(const Demand& low, const Demand& high, std::int64_t part, std::int64_t whole);
  /// Makes it the work of a pass that the CPU takes this long to dispatch: it ends no sooner, and
  /// its kernels are not launched beside.
  void dispatch(Duration cpu) {
    numbers_[kTime] = std::max<std::int64_t>(numbers_[kTime], cpu.count());
    for (const GpuRole role : {GpuRole::main, GpuRole::ffn}) numbers_[of(role, kKernels)] = 0;
  }
  bool empty() const { return numbers_.empty(); }
  void clear() { numbers_.assign(numbers_.size(), 0); }

 private:
  static constexpr std::size_t kTime = 0;
  // One number of each for every kind of GPU.
  static constexpr std::size_t kKernels = 1;
  static constexpr std::size_t kKiloflops = 2;
  static constexpr std::size_t kActive = 3;
  static constexpr std::size_t kComputing = 4;
  static constexpr std::size_t kOfRole = 4;
  static constexpr std::size_t kFirstChannel = 1 + kOfRole * kGpuRoles;
  static constexpr std::size_t of(GpuRole role, std::size_t number) {
    return static_cast<std::size_t>(role) * kOfRole + number;
  }
  std::size_t place(DeviceId device, Direction direction) const {
    return kFirstChannel + channels_ + 2 * device.index() + static_cast<std::size_t>(direction);
  }

  std::size_t channels_ = 0;
  std::size_t devices_ = 0;
  std::vector<std::int64_t> numbers_;
};

/// The demand of all operations of the graph, one after another. `system` is that of one replica,
/// so that all GPUs that share a device do the same at the same time.
Demand demand_of(const StepGraph& graph, const System& system);

}  // namespace tiersim
