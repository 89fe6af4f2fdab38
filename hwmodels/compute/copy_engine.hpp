#pragma once
// Model card: copy_engine (fidelity: flow)
//   Models    the GPU's DMA engines: a capacity for each direction, a descriptor for each
//             contiguous run, and for reads the requests that may be outstanding.
//   Equation  rate <= bandwidth; time >= runs * descriptor_time; towards the GPU rate <=
//             outstanding * min(run, request size) / RTT(rate), see request_window.hpp.
//   Ignores   how many engines there are, and the host thread that writes the descriptors.
//   Valid     copies that one engine works off in order.
//   Source    copy engine Gen5 x16 about 55 GB/s (measured by others); a descriptor takes 1-2 us:
//             8192 rows of 4 KB reach about 3 GB/s.
//   Checked   tests/unit/hwmodels/requests_test.cpp
#include <optional>

#include "hwmodels/compute/request_window.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct CopyEngineConfig {
  Sourced<Bandwidth> to_gpu;
  Sourced<Bandwidth> from_gpu;
  Sourced<Duration> descriptor_time;
  std::optional<OutstandingRequests> outstanding;
};

void describe(Fields& f, CopyEngineConfig& c);
std::unique_ptr<RequestEngine> make_device(const CopyEngineConfig& config);
void register_copy_engine(Registry<DeviceKind<RequestEngine>>& registry);

}  // namespace tiersim
