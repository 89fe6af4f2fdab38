#include "hwmodels/compute/sm_loads.hpp"

#include <array>

#include "hwmodels/limits.hpp"
#include "hwmodels/runs.hpp"

namespace tiersim {
namespace {

class SmLoads final : public RequestEngine {
 public:
  explicit SmLoads(const SmLoadsConfig& c)
      : in_flight_(c.in_flight.value),
        channels_{Channel{"to_gpu", c.to_gpu.value}, Channel{"from_gpu", c.from_gpu.value}} {}

  std::span<const Channel> channels() const override { return channels_; }

  AccessCost cost(Direction direction, Bytes payload, Bytes,
                  const RoundTrip& round_trip) const override {
    const std::size_t channel = direction == Direction::read ? 0 : 1;
    return {.charges = {{channel, payload}},
            .latency = {},
            .min_duration = windows_time(payload, round_trip.unloaded),
            .moved = payload};
  }

 private:
  // payload / in_flight round trips, rounded up to a picosecond. Stores are posted: they do not
  // wait, but the same window of buffers bounds them.
  Duration windows_time(Bytes payload, Duration round_trip) const {
    const Int128 product = Int128{payload.in_base()} * round_trip.count();
    const Int128 ps = (product + in_flight_.in_base() - 1) / in_flight_.in_base();
    if (ps > std::numeric_limits<std::int64_t>::max()) throw UnitOverflow();
    return Duration(static_cast<std::int64_t>(ps));
  }

  Bytes in_flight_;
  std::array<Channel, 2> channels_;
};

}  // namespace

void describe(Fields& f, SmLoadsConfig& c) {
  f.doc("Kernels that load from or store to remote memory.");
  f.required("to_gpu", c.to_gpu, "Sustained rate of loads.", bandwidth_limits());
  f.required("from_gpu", c.from_gpu, "Sustained rate of stores.", bandwidth_limits());
  f.required("in_flight", c.in_flight, "Bytes requested and not yet answered, all SMs together.",
             positive());
}

std::unique_ptr<RequestEngine> make_device(const SmLoadsConfig& config) {
  return std::make_unique<SmLoads>(config);
}

void register_sm_loads(Registry<DeviceKind<RequestEngine>>& registry) {
  registry.add("sm_loads", {"kernel loads and stores: bandwidth and bytes in flight (flow)",
                            &ConfiguredDevice<RequestEngine, SmLoadsConfig>::make});
}

}  // namespace tiersim
