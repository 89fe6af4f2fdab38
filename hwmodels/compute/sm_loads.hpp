#pragma once
// Model card: sm_loads (fidelity: flow)
//   Models    kernels that load from or store to remote memory: a measured capacity for each
//             direction, and the bytes that the SMs keep in flight.
//   Equation  rate <= min(bandwidth, in_flight / round trip).
//   Ignores   the SMs that such a kernel takes from others, growth of the round trip under load.
//   Valid     runs of 32 B and more.
//   Source    nvbandwidth on H100, PCIe Gen5 x16: 35.2 GB/s host to device, 52.77 device to host.
//   Checked   tests/unit/hwmodels/compute_test.cpp
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct SmLoadsConfig {
  Sourced<Bandwidth> to_gpu;
  Sourced<Bandwidth> from_gpu;
  Sourced<Bytes> in_flight;
};

void describe(Fields& f, SmLoadsConfig& c);
std::unique_ptr<RequestEngine> make_device(const SmLoadsConfig& config);
void register_sm_loads(Registry<DeviceKind<RequestEngine>>& registry);

}  // namespace tiersim
