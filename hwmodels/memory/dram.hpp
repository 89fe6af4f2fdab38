#pragma once
// Model card: dram (HBM, GDDR, DDR; fidelity: flow)
//   Models    one memory as a capacity that reads and writes share, with the granule it moves, the
//             share of peak it sustains in each direction, the rate at which rows can be opened, a
//             ceiling on writes alone, and the latency that queueing adds.
//   Equation  bus bytes of a run of g bytes = sum over its interleave chunks c of
//             max(atoms(c) / efficiency, row_time * peak / pseudo_channels); capacity = peak.
//             Long runs reach efficiency * peak, isolated rows pseudo_channels * c / row_time.
//             Writes also take a second channel of write_limit * peak: reads, copies and writes
//             alone then all reach what was measured (H100: .934, .90 and .67 of peak).
//             Added latency at u = rate / peak: scale * u^exponent / (1 - u / saturation), with
//             u <= .98 saturation: finite, and never falling with the rate. With exponent 1 and
//             scale = k / saturation this is k x / (1 - x), x = u / saturation.
//   Ignores   banks, refresh as events, turnaround between single reads and writes; that a write
//             smaller than an atom reads it first (random 8 B writes on H200: 15.4 G/s measured,
//             38 G/s here). A write is charged the latency of a read.
//   Valid     accesses spread evenly over the pseudo channels; at least one run per pseudo channel.
//             The latency curve: measured up to u = .965 saturation.
//   Source    Mess benchmark (loaded latency, read and write efficiency), GUPS tables (row time).
//   Checked   tests/unit/hwmodels/dram_test.cpp
#include <optional>

#include "hwmodels/packet/dram/dram_config.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct DramQueueing {
  Sourced<Duration> scale;
  Sourced<double> exponent;
  Sourced<double> saturation;
};

struct DramConfig {
  Sourced<Bytes> capacity;
  Sourced<Bandwidth> peak;
  Sourced<std::int64_t> pseudo_channels;
  Sourced<Bytes> atom;
  Sourced<Bytes> interleave;
  Sourced<double> read_efficiency;
  Sourced<double> write_efficiency;
  std::optional<Sourced<double>> write_limit;
  Sourced<Duration> row_time;
  Sourced<Duration> latency;
  std::optional<DramQueueing> queueing;
  std::optional<DramPacketConfig> packet;  ///< of one stack or module, at packet level
};

void describe(Fields& f, DramQueueing& c);
void describe(Fields& f, DramConfig& c);
std::unique_ptr<MemoryTier> make_device(const DramConfig& config);
void register_dram(Registry<DeviceKind<MemoryTier>>& registry);

}  // namespace tiersim
