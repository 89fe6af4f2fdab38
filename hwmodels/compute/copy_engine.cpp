#include "hwmodels/compute/copy_engine.hpp"

#include <array>

#include "hwmodels/limits.hpp"
#include "hwmodels/runs.hpp"

namespace tiersim {
namespace {

class CopyEngine final : public RequestEngine {
 public:
  explicit CopyEngine(const CopyEngineConfig& c)
      : descriptor_time_(c.descriptor_time.value),
        channels_{Channel{"to_gpu", c.to_gpu.value}, Channel{"from_gpu", c.from_gpu.value}} {}

  std::span<const Channel> channels() const override { return channels_; }

  AccessCost cost(Direction direction, Bytes payload, Bytes run, const RoundTrip&) const override {
    const std::size_t channel = direction == Direction::read ? 0 : 1;
    return {.charges = {{channel, payload}},
            .latency = {},
            .min_duration = repeated(descriptor_time_, Runs::of(payload, run).count()),
            .moved = payload};
  }

 private:
  Duration descriptor_time_;
  std::array<Channel, 2> channels_;
};

}  // namespace

void describe(Fields& f, CopyEngineConfig& c) {
  f.doc("The GPU's copy engines (DMA).");
  f.required("to_gpu", c.to_gpu, "Sustained rate of copies towards the GPU.", bandwidth_limits());
  f.required("from_gpu", c.from_gpu, "Sustained rate of copies from the GPU.", bandwidth_limits());
  f.required("descriptor_time", c.descriptor_time, "Time of one descriptor, one contiguous run.",
             latency_limits());
}

std::unique_ptr<RequestEngine> make_device(const CopyEngineConfig& config) {
  return std::make_unique<CopyEngine>(config);
}

void register_copy_engine(Registry<DeviceKind<RequestEngine>>& registry) {
  registry.add("copy_engine", {"DMA: bandwidth and a descriptor for each run (flow)",
                               &ConfiguredDevice<RequestEngine, CopyEngineConfig>::make});
}

}  // namespace tiersim
