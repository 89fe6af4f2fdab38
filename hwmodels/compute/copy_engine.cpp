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
      : descriptor_time_(c.descriptor_time ? c.descriptor_time->value : Duration{}),
        submission_(c.submission),
        inline_(c.inlined),
        window_(std::nullopt, c.outstanding),
        channels_{Channel{"to_gpu", c.to_gpu.value}, Channel{"from_gpu", c.from_gpu.value}} {}

  std::span<const Channel> channels() const override { return channels_; }

  AccessCost cost(Direction direction, Bytes payload, Bytes run,
                  const RoundTrip& round_trip) const override {
    const bool read = direction == Direction::read;
    const std::int64_t descriptors = Runs::of(payload, run).count();
    Duration least = repeated(descriptor_time_, descriptors);
    Duration first{};
    if (read && inline_ && run < inline_->below.value) {
      least = std::max(least, inline_time(payload, descriptors));
    } else if (submission_) {
      const std::int64_t ahead = std::min(descriptors, submission_->ahead.value);
      first = repeated(submission_->time.value, ahead);
      least = std::max(least, repeated(submission_->time.value, descriptors - ahead));
    }
    if (read)
      least = std::max(least, window_.time(payload, run, round_trip, channels_[kToGpu].capacity));
    return {.charges = {{read ? kToGpu : kFromGpu, payload}},
            .latency = first,
            .min_duration = least,
            .moved = payload};
  }

 private:
  Duration inline_time(Bytes payload, std::int64_t copies) const {
    return repeated(inline_->time.value, copies) + payload / inline_->rate.value +
           repeated(inline_->waiting.value,
                    std::max(std::int64_t{0}, copies - inline_->queue.value));
  }

  Duration descriptor_time_;
  std::optional<Submission> submission_;
  std::optional<InlineCopies> inline_;
  RequestWindow window_;
  std::array<Channel, 2> channels_;
};

}  // namespace

void describe(Fields& f, Submission& c) {
  f.doc("The host's part of a copy of many descriptors.");
  f.required("time", c.time, "Host time for each descriptor.", latency_limits());
  f.required("ahead", c.ahead,
             "Descriptors that are submitted before the engine starts: 1 where each copy is a call "
             "of its own.",
             in_range(1, 1 << 30));
}

void describe(Fields& f, InlineCopies& c) {
  f.doc("Short copies towards the GPU whose bytes the host writes into the command stream.");
  f.required("below", c.below, "Copies of fewer bytes than this one go this way.", packet_limits());
  f.required("rate", c.rate, "At which the host writes their bytes.", bandwidth_limits());
  f.required("time", c.time, "Host time for each copy, beside its bytes.", latency_limits());
  f.required("queue", c.queue, "Copies for which the command stream has room.",
             in_range(1, 1 << 30));
  f.required("waiting", c.waiting, "Further time for each copy beyond the queue.",
             latency_limits());
}

void describe(Fields& f, CopyEngineConfig& c) {
  f.doc("The GPU's copy engines (DMA).");
  f.required("to_gpu", c.to_gpu, "Sustained rate of copies towards the GPU.", bandwidth_limits());
  f.required("from_gpu", c.from_gpu, "Sustained rate of copies from the GPU.", bandwidth_limits());
  f.optional("descriptor_time", c.descriptor_time,
             "The engine's time for one descriptor, which is one contiguous run; not a limit where "
             "absent.",
             latency_limits());
  f.optional("submission", c.submission, "The host's part; not a limit where absent.");
  f.optional("inline", c.inlined, "No copy goes this way where absent.");
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
