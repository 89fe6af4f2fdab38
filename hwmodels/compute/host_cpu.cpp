#include "hwmodels/compute/host_cpu.hpp"

#include <array>

#include "hwmodels/limits.hpp"

namespace tiersim {
namespace {

class HostCpu final : public Requester {
 public:
  explicit HostCpu(const HostCpuConfig& c) : channels_{Channel{"attention", c.attention.value}} {}

  std::span<const Channel> channels() const override { return channels_; }
  AccessCost cost(Direction /*direction*/, Bytes payload, Bytes /*run*/,
                  const RoundTrip& /*round_trip*/) const override {
    return {.charges = {{0, payload}}, .latency = {}, .moved = payload};
  }
  bool is_on_host() const override { return true; }

 private:
  std::array<Channel, 1> channels_;
};

}  // namespace

void describe(Fields& f, HostCpuConfig& c) {
  f.doc("The CPUs of a host that attend to keys and values where these lie.");
  f.required("attention", c.attention,
             "Bytes of keys and values that they take, for all GPUs of the host together.",
             bandwidth_limits());
}

std::unique_ptr<Requester> make_device(const HostCpuConfig& config) {
  return std::make_unique<HostCpu>(config);
}

void register_host_cpu(Registry<DeviceKind<Requester>>& registry) {
  registry.add("host_cpu", {"CPUs that attend where keys and values lie: bandwidth (flow)",
                            &ConfiguredDevice<Requester, HostCpuConfig>::make});
}

}  // namespace tiersim
