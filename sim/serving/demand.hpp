#pragma once
// What work asks of one replica's hardware: its time alone on the system, and what it takes of
// every channel and moves through every device. Sums of whole numbers, so that an iteration's
// demand is put together from those of its parts.
#include <cstdint>
#include <vector>

#include "sim/step/system.hpp"

namespace tiersim {

class Demand {
 public:
  Demand() = default;
  /// Nothing, on this system.
  explicit Demand(const System& system)
      : channels_(system.channels().size()),
        numbers_(kFirstChannel + channels_ + 2 * system.device_names().size()) {}

  Duration time() const { return Duration(numbers_[kTime]); }
  void set_time(Duration time) { numbers_[kTime] = time.count(); }
  /// Kernels that are launched.
  std::int64_t kernels() const { return numbers_[kKernels]; }
  std::size_t channels() const { return channels_; }
  /// Of the channel's capacity, from all GPUs of the replica that share one instance of it.
  Bytes busy(ChannelId channel) const {
    return Bytes::from_base(numbers_[kFirstChannel + channel.index()]);
  }
  /// Payload through the device, likewise.
  Bytes payload(DeviceId device, Direction direction) const {
    return Bytes::from_base(numbers_[place(device, direction)]);
  }

  /// One operation more, after the others.
  void add(const OpPlan& plan, const System& system);
  /// `times` of another, after the others.
  void add(const Demand& other, std::int64_t times = 1);
  /// Adds what lies `part` / `whole` of the way from one demand to another.
  void add_between(const Demand& low, const Demand& high, std::int64_t part, std::int64_t whole);
  void clear() { numbers_.assign(numbers_.size(), 0); }

 private:
  static constexpr std::size_t kTime = 0;
  static constexpr std::size_t kKernels = 1;
  static constexpr std::size_t kFirstChannel = 2;
  std::size_t place(DeviceId device, Direction direction) const {
    return kFirstChannel + channels_ + 2 * device.index() + static_cast<std::size_t>(direction);
  }

  std::size_t channels_ = 0;
  std::vector<std::int64_t> numbers_;
};

/// All operations of the graph, one after another. `system` is one replica's, so that all who share
/// a device do the same at the same time.
Demand demand_of(const StepGraph& graph, const System& system);

}  // namespace tiersim
