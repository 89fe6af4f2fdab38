#pragma once
// Model card: dram (HBM, GDDR, DDR; fidelity: flow)
//   Models    one memory as a single capacity shared by reads and writes, with the granule it
//   moves, the
//             share of peak it sustains in each direction, and the rate at which rows can be
//             opened.
//   Equation  bus bytes of a run of g bytes = sum over its interleave chunks c of
//             max(atoms(c) / efficiency, row_time * peak / pseudo_channels);
//             capacity = peak. Long runs reach efficiency * peak, isolated rows
//             pseudo_channels * c / row_time.
//   Ignores   banks, refresh as events, the loaded-latency curve, read/write turnaround beyond the
//   two
//             efficiencies (a stream of writes alone reaches less: .67 of peak was measured on one
//             part).
//   Valid     accesses spread evenly over the pseudo channels; at least one run per pseudo channel.
//   Source    Mess benchmark (loaded latency, read/write efficiency), GUPS tables (row time).
//   Checked   tests/unit/hwmodels/dram_test.cpp
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct DramConfig {
  Sourced<Bytes> capacity;
  Sourced<Bandwidth> peak;
  Sourced<std::int64_t> pseudo_channels;
  Sourced<Bytes> atom;
  Sourced<Bytes> interleave;
  Sourced<double> read_efficiency;
  Sourced<double> write_efficiency;
  Sourced<Duration> row_time;
  Sourced<Duration> latency;
};

void describe(Fields& f, DramConfig& c);
std::unique_ptr<MemoryTier> make_device(const DramConfig& config);
void register_dram(Registry<DeviceKind<MemoryTier>>& registry);

}  // namespace tiersim
