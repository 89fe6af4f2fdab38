#include "hwmodels/compute/sm_loads.hpp"

#include <algorithm>
#include <array>

#include "hwmodels/limits.hpp"
#include "hwmodels/runs.hpp"

namespace tiersim {
namespace {

// The rate of the SMs that the kernel takes, `most` at most.
Bandwidth rate_of_sms(Bandwidth most, const std::optional<HeldSms>& sms,
                      std::optional<Sourced<Bandwidth>> HeldSms::*each) {
  if (!sms || !((*sms).*each)) return most;
  return std::min(most, ((*sms).*each)->value * sms->taken.value);
}

class SmLoads final : public Requester {
 public:
  explicit SmLoads(const SmLoadsConfig& c)
      : sector_(c.sector.value),
        window_(c.in_flight.value, c.outstanding),
        run_time_(c.run_time ? c.run_time->value : Duration{}),
        held_sms_(c.sms ? static_cast<double>(c.sms->taken.value) /
                              static_cast<double>(c.sms->of.value)
                        : 0),
        channels_{
            Channel{"to_gpu", rate_of_sms(c.to_gpu.value, c.sms, &HeldSms::each_to_gpu)},
            Channel{"from_gpu", rate_of_sms(c.from_gpu.value, c.sms, &HeldSms::each_from_gpu)}} {}

  std::span<const Channel> channels() const override { return channels_; }

  AccessCost cost(Direction direction, Bytes payload, Bytes run,
                  const RoundTrip& round_trip) const override {
    const bool read = direction == Direction::read;
    const Runs runs = Runs::of(payload, run);
    const Bytes moved = runs.total([&](Bytes length) { return request_run(length); });
    AccessCost cost{.charges = {{read ? kToGpu : kFromGpu, moved}},
                    .latency = {},
                    .min_duration = repeated(run_time_, runs.count()),
                    .moved = moved};
    if (read)
      cost.min_duration =
          std::max(cost.min_duration,
                   window_.time(moved, request_run(run), round_trip, channels_[kToGpu].capacity));
    return cost;
  }

  Bytes request_run(Bytes run) const override { return round_up(run, sector_); }
  double held_sms() const override { return held_sms_; }

 private:
  Bytes sector_;
  RequestWindow window_;
  Duration run_time_;
  double held_sms_;
  std::array<Channel, 2> channels_;
};

}  // namespace

void describe(Fields& f, HeldSms& c) {
  f.doc("SMs that a kernel which moves data keeps from others.");
  f.required("taken", c.taken, "How many it occupies.", in_range(1, 4096));
  f.required("of", c.of, "SMs of the GPU.", in_range(2, 4096));
  f.optional("each_to_gpu", c.each_to_gpu, "Loads of one SM; not a limit where absent.",
             bandwidth_limits());
  f.optional("each_from_gpu", c.each_from_gpu, "Stores of one SM; not a limit where absent.",
             bandwidth_limits());
  f.check(c.taken.value < c.of.value, "taken", "leaves no SM to other kernels", "fewer than `of`");
}

void describe(Fields& f, SmLoadsConfig& c) {
  f.doc("Kernels that load from or store to remote memory.");
  f.required("to_gpu", c.to_gpu, "Sustained rate of loads.", bandwidth_limits());
  f.required("from_gpu", c.from_gpu, "Sustained rate of stores.", bandwidth_limits());
  f.required("in_flight", c.in_flight, "Bytes requested and not yet answered, all SMs together.",
             positive());
  f.optional("sector", c.sector, "Smallest load or store; a shorter run takes a whole one.",
             in_range(Bytes::from_base(1), Bytes::from_base(128)));
  f.optional("outstanding", c.outstanding, "Not a limit where absent.");
  f.optional("run_time", c.run_time,
             "Least time for each contiguous run of a gather; not a limit where absent.",
             latency_limits());
  f.optional("sms", c.sms, "SMs that transfers take from kernels beside them; none where absent.");
}

std::unique_ptr<Requester> make_device(const SmLoadsConfig& config) {
  return std::make_unique<SmLoads>(config);
}

void register_sm_loads(Registry<DeviceKind<Requester>>& registry) {
  registry.add("sm_loads", {"kernel loads and stores: bandwidth and bytes in flight (flow)",
                            &ConfiguredDevice<Requester, SmLoadsConfig>::make});
}

}  // namespace tiersim
