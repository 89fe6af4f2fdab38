#include "hwmodels/compute/copy_engine.hpp"

#include <algorithm>
#include <array>

#include "hwmodels/limits.hpp"
#include "hwmodels/runs.hpp"

namespace tiersim {
namespace {

class CopyEngine final : public Requester {
 public:
  explicit CopyEngine(const CopyEngineConfig& c)
      : descriptor_time_(c.descriptor_time.value),
        batch_(c.batch ? c.batch->descriptors.value : 1),
        batch_time_(c.batch ? c.batch->time.value : Duration{}),
        window_(std::nullopt, c.outstanding),
        channels_{Channel{"to_gpu", c.to_gpu.value}, Channel{"from_gpu", c.from_gpu.value}} {}

  std::span<const Channel> channels() const override { return channels_; }

  AccessCost cost(Direction direction, Bytes payload, Bytes run,
                  const RoundTrip& round_trip) const override {
    const bool read = direction == Direction::read;
    const std::int64_t descriptors = Runs::of(payload, run).count();
    const std::int64_t batches = descriptors / batch_ + (descriptors % batch_ != 0 ? 1 : 0);
    Duration least =
        std::max(repeated(descriptor_time_, descriptors), repeated(batch_time_, batches));
    if (read)
      least = std::max(least, window_.time(payload, run, round_trip, channels_[kToGpu].capacity));
    return {.charges = {{read ? kToGpu : kFromGpu, payload}},
            .latency = {},
            .min_duration = least,
            .moved = payload};
  }

 private:
  Duration descriptor_time_;
  std::int64_t batch_;
  Duration batch_time_;
  RequestWindow window_;
  std::array<Channel, 2> channels_;
};

}  // namespace

void describe(Fields& f, DescriptorBatch& c) {
  f.doc("Descriptors that the host hands over together.");
  f.required("descriptors", c.descriptors, "How many at most.", in_range(1, 1 << 20));
  f.required("time", c.time, "Host time of one batch, however full.", latency_limits());
}

void describe(Fields& f, CopyEngineConfig& c) {
  f.doc("The GPU's copy engines (DMA).");
  f.required("to_gpu", c.to_gpu, "Sustained rate of copies towards the GPU.", bandwidth_limits());
  f.required("from_gpu", c.from_gpu, "Sustained rate of copies from the GPU.", bandwidth_limits());
  f.required("descriptor_time", c.descriptor_time, "Time of one descriptor, one contiguous run.",
             latency_limits());
  f.optional("batch", c.batch, "Where absent, descriptor_time holds the host's time of each.");
  f.optional("outstanding", c.outstanding, "Not a limit where absent.");
}

std::unique_ptr<Requester> make_device(const CopyEngineConfig& config) {
  return std::make_unique<CopyEngine>(config);
}

void register_copy_engine(Registry<DeviceKind<Requester>>& registry) {
  registry.add("copy_engine", {"DMA: bandwidth and a descriptor for each run (flow)",
                               &ConfiguredDevice<Requester, CopyEngineConfig>::make});
}

}  // namespace tiersim
