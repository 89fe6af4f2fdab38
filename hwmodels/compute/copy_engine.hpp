#pragma once
// Model card: copy_engine (fidelity: flow)
//   Models    the GPU's DMA engines: a capacity for each direction, a descriptor for each
//             contiguous run, submissions of many descriptors where batches are configured, and
//             for reads the number of outstanding requests.
//   Equation  rate <= bandwidth; time >= runs * descriptor_time; with `batch`, time >=
//             ceil(runs / descriptors) * time of a batch as well: the host writes one while the
//             engine works off the one before. Towards the GPU rate <= outstanding * min(run,
//             request size) / RTT(rate), see request_window.hpp.
//   Ignores   the number of engines; the first batch, which overlaps nothing.
//   Valid     copies that one engine works off in order.
//   Source    copy engine Gen5 x16 about 55 GB/s (measured by others); a descriptor takes 1-2 us:
//             8192 rows of 4 KB reach about 3 GB/s.
//   Checked   tests/unit/hwmodels/requests_test.cpp
#include <optional>

#include "hwmodels/compute/request_window.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

/// Descriptors that the host submits together.
struct DescriptorBatch {
  Sourced<std::int64_t> descriptors;
  Sourced<Duration> time;
};

struct CopyEngineConfig {
  Sourced<Bandwidth> to_gpu;
  Sourced<Bandwidth> from_gpu;
  Sourced<Duration> descriptor_time;
  std::optional<DescriptorBatch> batch;
  std::optional<OutstandingRequests> outstanding;
};

void describe(Fields& f, DescriptorBatch& c);
void describe(Fields& f, CopyEngineConfig& c);
std::unique_ptr<Requester> make_device(const CopyEngineConfig& config);
void register_copy_engine(Registry<DeviceKind<Requester>>& registry);

}  // namespace tiersim
