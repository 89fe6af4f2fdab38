#pragma once
// Steady traffic of the host's CPUs in a memory that GPUs use as well.
//   Models    CPUs that keep their rate whatever the GPUs ask for: the memory has that much less
//             for the GPUs, and its queueing delay is that of both together.
//   Ignores   that CPUs slow down, too, once the memory saturates (Xeon 4510 with 70 GB/s alone
//             and DMA of 56 GB/s alone: together 70 and 37, or 77 and 42 GB/s); the caches.
//   Valid     rates that the CPUs reach: .62 to .78 of the peak on a Xeon 8480+, half on a Xeon
//             Max 9480 with HBM2e, .58 on a Xeon 4510.
//   Checked   tests/unit/step/cpu_traffic_test.cpp; `validate hardware`, curve copy-beside-cpu
#include <memory>

#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"
#include "sim/model/device.hpp"

namespace tiersim {

struct CpuTraffic {
  Sourced<Bandwidth> rate;  ///< payload, > 0
  double read_share = 1;
};
void describe(Fields& f, CpuTraffic& c);

/// The smallest share of any channel of `memory` that `traffic` leaves to the GPUs; negative where
/// it asks for more than there is.
double share_left(const MemoryTier& memory, const CpuTraffic& traffic);

/// The memory as the GPUs see it beside `traffic`, which must leave a share above 0.
std::unique_ptr<MemoryTier> beside(std::unique_ptr<MemoryTier> memory, const CpuTraffic& traffic);

}  // namespace tiersim
