#pragma once
// Microbenchmarks of the packet-level PCI Express model: devices that read and write host memory.
#include <cstdint>
#include <vector>

#include "hwmodels/packet/latency_summary.hpp"
#include "hwmodels/packet/memory_port.hpp"
#include "hwmodels/packet/pcie/pcie_packet_config.hpp"

namespace tiersim {

///   PcieProbe probe;
///   probe.size = 4096_B;
///   run_pcie_probe(config, probe).bandwidth;  // payload
struct PcieProbe {
  enum class Addresses : std::uint8_t { sequential, random };

  Bytes size = Bytes::from_base(4096);  ///< size of a transfer
  /// Share of reads among transfers, drawn by each device unless it is 0 or 1.
  double read_share = 1.0;
  Addresses addresses = Addresses::sequential;
  Bytes region = Bytes::from_base(std::int64_t{1} << 30);  ///< addresses of each device
  std::int64_t outstanding = 64;  ///< transfers in flight at each device, where `offered` is 0
  Bandwidth offered{};  ///< open loop: Poisson arrivals of this payload rate at each device
  std::int64_t transfers = 10'000;  ///< of each device, including the warm-up
  double warm_up = 0.2;             ///< share of the transfers that is not measured
  std::int64_t devices = 1;         ///< more than one needs a switch
  std::uint64_t seed = 1;
};

struct PcieProbeResult {
  Bandwidth bandwidth;               ///< payload of transfers that ended in the measurement window
  std::vector<Bandwidth> of_device;  ///< the same by device
  LatencySummary latency;            ///< from arrival to end, reads and writes
  double mean_in_system = 0;         ///< transfers, over the whole run
  Duration elapsed{};                ///< of the whole run
  Int128 stays = 0;                  ///< sum of all latencies, ps: mean_in_system x elapsed
  std::int64_t transfers = 0;        ///< transfers that ended
  Bytes payload{};                   ///< of all transfers
  Bytes wire_up{}, wire_down{};      ///< all bytes on the link at the root, with link packets
  std::int64_t packets = 0;          ///< transaction packets over all links
  std::int64_t most_tags = 0;        ///< largest number that one device had in use
  std::int64_t credits_held = 0;     ///< at the end, over all classes and links
  std::int64_t credits_issued = 0;   ///< over all classes and links
  std::int64_t packets_left_behind = 0;  ///< packets not delivered at the end
  std::uint64_t events = 0;
};

/// Runs until every transfer has ended. `memory` is behind the root complex; if null, config.host's
/// latency and rate are used. Precondition: more than one device only with a switch.
PcieProbeResult run_pcie_probe(const PciePacketConfig& config, const PcieProbe& probe,
                               MemoryPort* memory = nullptr);

}  // namespace tiersim
