#pragma once
// The work that packet_bench times and packet_counts_test counts, on parts in the numbers that
// configs/devices ships with their sources.
#include <cstdint>

#include "hwmodels/packet/cxl/cxl_probe.hpp"
#include "hwmodels/packet/dram/dram_probe.hpp"
#include "hwmodels/packet/pcie/pcie_probe.hpp"
#include "tests/unit/packet/nvlink_h100.hpp"

namespace tiersim::bench {

using namespace std::chrono_literals;
using namespace literals;

struct PacketWork {
  std::int64_t packets = 0;
  std::int64_t bytes = 0;  ///< payload
  std::uint64_t events = 0;
};

/// A Gen5 x16 device at a root complex with 4 KiB transfers; more than one `devices` are behind a
/// switch.
inline PacketWork pcie_transfers(double read_share, std::int64_t devices, std::int64_t transfers) {
  PciePacketConfig c;
  c.raw.value = Bandwidth::from_base(63'015'000'000);
  c.flight.value = 10ns;
  c.host.read_latency.value = 500ns;
  if (devices > 1) c.fabric_switch.emplace().latency.value = 100ns;
  const PcieProbeResult r = run_pcie_probe(
      c, {.read_share = read_share, .transfers = transfers / devices, .devices = devices});
  return {r.packets, r.payload.in_base(), r.events};
}

/// Hosts of Gen5 x8 at one pool of as many devices; one of each has no switch.
inline PacketWork cxl_lines(double read_share, std::int64_t hosts, std::int64_t lines) {
  CxlPacketConfig c;
  c.raw.value = 32_GBps;
  c.flight.value = 15ns;
  c.device.latency.value = 20ns;
  c.device.memory_latency.value = 100ns;
  if (hosts > 1) c.pool_switch.emplace().latency.value = 45ns;
  CxlProbe probe;
  probe.read_share = read_share;
  probe.hosts = probe.devices = hosts;
  probe.accesses = lines / hosts;
  const CxlProbeResult r = run_cxl_probe(c, probe);
  return {r.messages, r.accesses * 64, r.events};
}

inline PacketWork nvlink_messages(NvlinkPattern pattern, double read_share, Bytes bytes) {
  const NvlinkProbeResult r = run_nvlink_probe(
      testing::h100_node(), {.pattern = pattern, .bytes = bytes, .read_share = read_share});
  return {r.counters.entered, r.payload.in_base(), r.events};
}

/// All-reduces of 8 GPUs; bytes are those of the array, as in NCCL's tests.
inline PacketWork all_reduce(PacketAlgorithm algorithm, Bytes bytes) {
  const CollectiveProbeResult r =
      run_collective_probe(testing::h100_collectives(), {.algorithm = algorithm, .bytes = bytes});
  return {r.packets, bytes.in_base(), r.events};
}

/// The weights of one layer of Llama-2-7B, 202.4 M of two bytes.
inline constexpr std::int64_t kLayerBytes = 404'750'336;

/// That layer from an HBM3 stack of 16 channels, each two pseudo channels.
inline PacketWork layer_from_a_stack(std::int64_t bytes) {
  DramPacketConfig stack;
  stack.address_map.pieces[1].bits = 5;
  const DramProbeResult r = run_dram_probe(
      stack, {.pattern = DramPattern::sequential, .outstanding_atoms = 4096, .atoms = bytes / 32});
  return {r.counts.served(), r.counts.served() * 32, 0};
}

/// The all-reduces of a layer of Llama-2-7B over 8 GPUs in a decode step of 32 sequences: 32 rows
/// of 4096 bf16 after attention, and as many after the MLP.
inline PacketWork layer_all_reduces(PacketAlgorithm algorithm) {
  constexpr Bytes kRows = Bytes::from_base(32 * 4096 * 2);
  PacketWork sum;
  for (int i = 0; i < 2; ++i) {
    const PacketWork one = all_reduce(algorithm, kRows);
    sum.packets += one.packets, sum.bytes += one.bytes, sum.events += one.events;
  }
  return sum;
}

}  // namespace tiersim::bench
