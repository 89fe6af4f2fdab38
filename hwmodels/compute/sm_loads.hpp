#pragma once
// Model card: sm_loads (fidelity: flow)
//   Models    kernels that load from or store to remote memory: a measured capacity for each
//             direction, and for loads the bytes that the SMs keep in flight and the requests that
//             may be outstanding.
//   Equation  loads: rate <= min(bandwidth, window / RTT(rate)), window = min(in_flight,
//             outstanding * min(run, request size)); see request_window.hpp. Stores are posted:
//             rate <= bandwidth.
//   Ignores   the SMs that such a kernel takes from others, the write buffers behind stores.
//   Valid     runs of 32 B and more.
//   Source    nvbandwidth on H100, PCIe Gen5 x16: 35.2 GB/s host to device, 52.77 device to host.
//   Checked   tests/unit/hwmodels/requests_test.cpp
#include <optional>

#include "hwmodels/compute/request_window.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct SmLoadsConfig {
  Sourced<Bandwidth> to_gpu;
  Sourced<Bandwidth> from_gpu;
  Sourced<Bytes> in_flight;
  std::optional<OutstandingRequests> outstanding;
};

void describe(Fields& f, SmLoadsConfig& c);
std::unique_ptr<RequestEngine> make_device(const SmLoadsConfig& config);
void register_sm_loads(Registry<DeviceKind<RequestEngine>>& registry);

}  // namespace tiersim
