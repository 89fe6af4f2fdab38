#pragma once
// Model card: dram (HBM, GDDR, DDR; fidelity: flow)
//   Models    one memory as a capacity that reads and writes share, with the granule it moves, the
//             share of peak it sustains in each direction, the rate at which rows can be opened, a
//             ceiling on writes alone, and the latency that queueing adds.
//   Equation  bus bytes of a run of g bytes = sum over its interleave chunks c of
//             max(atoms(c) / efficiency, row_time * peak / channels); capacity = peak; channels =
//             pseudo_channels, or peak / channel_peak to the nearest whole number.
//             Long runs reach efficiency * peak, isolated rows channels * c / row_time.
//             Writes also take a second channel of write_limit * peak. Reads, copies and writes
//             alone then all reach their measured rates (H100: .934, .90 and .67 of peak).
//             Latency under load is interpolated between curves by run and read share:
//             dram_queueing.hpp, loaded_latency.hpp.
//             A write in runs that are not whole atoms first reads the last atom: its chunk takes
//             partial_write_time instead of row_time, where that is stated.
//   Ignores   banks, refresh as events, turnaround between single reads and writes. A write is
//             charged the latency of a read. The bytes that a partial write reads take time but
//             are not counted as moved. Request engines see the latency of reads alone.
//   Disagrees with its packets (H100 and H200, 4096 atoms outstanding in a stack): random reads of
//             32 B to 4 KB by +1 to +6 % (bank conflicts), 2:1 by +3 to +12 % (turnaround),
//             streams of reads by -2 to -3 %. write_limit is a limit of the GPU, before the memory,
//             and so before its packets, too. Where there is none, writes alone are 18 to 20 %
//             (DDR) and 30 to 45 % (LPDDR) slow: write_efficiency has the turns of the bus of lines
//             read and written in equal parts, as CPUs do, in each write, and sharing by bytes
//             cannot tell them from writes alone. GDDR6X of 24 channels: random 256 B by +17 %, 2:1
//             by +29 %. DDR5: reads and mixes within 6 %. Random writes of 8 B on H200: 15.7 G/s
//             here, 18.5 by packets (which do not join the read and the write), 15.4 measured.
//   Valid     accesses spread evenly over the pseudo channels; at least one run per pseudo channel.
//   Source    Mess benchmark (loaded latency, read and write efficiency), GUPS tables (row time,
//             partial writes: 13.4 G/s of 8 B on H100 and 15.4 on H200, against 31.8 and 38 reads).
//   Checked   tests/unit/hwmodels/dram_test.cpp, flow_against_packets_test.cpp,
//             tests/unit/validate/fidelity_map_test.cpp (every shipped memory, by its timings)
#include <optional>
#include <vector>

#include "hwmodels/memory/dram_queueing.hpp"
#include "hwmodels/packet/dram/dram_config.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct DramConfig {
  Sourced<Bytes> capacity;
  Sourced<Bandwidth> peak;
  /// One of these two: a memory with more peak has more pseudo channels, or faster ones.
  std::optional<Sourced<Bandwidth>> channel_peak;
  std::optional<Sourced<std::int64_t>> pseudo_channels;
  Sourced<Bytes> atom;
  Sourced<Bytes> interleave;
  Sourced<double> read_efficiency;
  Sourced<double> write_efficiency;
  std::optional<Sourced<double>> write_limit;
  Sourced<Duration> row_time;
  std::optional<Sourced<Duration>> partial_write_time;
  Sourced<Duration> latency;
  std::optional<DramQueueing> queueing;
  /// Further parameters of one stack or module at packet level.
  std::optional<DramPacketConfig> packet_level;

  /// Independent pseudo channels, at least one.
  std::int64_t channels() const;
};

void describe(Fields& f, DramConfig& c);
std::unique_ptr<MemoryTier> make_device(const DramConfig& config);
/// Packet model of one stack or module under its share of the load; empty without `packet_level`.
std::optional<PacketModel> make_packets(const DramConfig& config);
/// One memory that stands for `units` equal memories, over which addresses are interleaved.
DramConfig side_by_side(DramConfig config, std::int64_t units);
void register_dram(Registry<DeviceKind<MemoryTier>>& registry);

}  // namespace tiersim
