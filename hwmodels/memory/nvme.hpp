#pragma once
// Model card: nvme (solid-state drive as a slow tier; fidelity: flow)
//   Models    one drive, or several with addresses spread over them: a bandwidth and a command
//             rate for each direction, the block size, and a queue of bounded depth.
//   Equation  channel bytes of a run = max(blocks(run), bandwidth / iops), as each run is one
//             command; time >= commands * latency / queue_depth (Little's law).
//   Ignores   flash bandwidth that reads and writes share, garbage collection, the write cache
//             and the lower rate once it is full, tails, the split of commands larger than the
//             drive's limit, the host's time for each command.
//   Valid     runs aligned to blocks; enough of them to fill the queue. Steady state for writes as
//             far as the data sheet's sustained figures go.
//   Source    data sheets give all parameters.
//   Checked   tests/unit/hwmodels/nvme_test.cpp
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct NvmeConfig {
  Sourced<Bytes> capacity;
  Sourced<Bandwidth> read_bandwidth;
  Sourced<Bandwidth> write_bandwidth;
  Sourced<std::int64_t> read_iops;
  Sourced<std::int64_t> write_iops;
  Sourced<Bytes> block;
  Sourced<Duration> read_latency;
  Sourced<Duration> write_latency;
  Sourced<std::int64_t> queue_depth;
};

void describe(Fields& f, NvmeConfig& c);
std::unique_ptr<MemoryTier> make_device(const NvmeConfig& config);
/// One drive that stands for `units` equal drives, over which addresses are spread.
NvmeConfig side_by_side(NvmeConfig config, std::int64_t units);
void register_nvme(Registry<DeviceKind<MemoryTier>>& registry);

}  // namespace tiersim
