#pragma once
// Microbenchmarks of the packet-level CXL.mem model: hosts that read and write lines of devices.
#include <cstdint>
#include <vector>

#include "hwmodels/packet/cxl/cxl_packet_config.hpp"
#include "hwmodels/packet/latency_summary.hpp"
#include "hwmodels/packet/memory_port.hpp"

namespace tiersim {

///   CxlProbe probe;
///   probe.read_share = 2.0 / 3;
///   run_cxl_probe(config, probe).bandwidth;  // payload, reads and writes
struct CxlProbe {
  enum class Addresses : std::uint8_t { sequential, random };

  Bytes size = Bytes::from_base(64);  ///< size of an access; whole lines of 64 B
  double read_share = 1.0;            ///< share of reads among accesses, drawn at random
  Addresses addresses = Addresses::random;
  Bytes region = Bytes::from_base(std::int64_t{1} << 34);  ///< of all devices together
  Bytes interleave = Bytes::from_base(256);                ///< over the devices
  std::int64_t outstanding = 128;  ///< lines in flight at each host, where `offered` is 0
  /// Lines in flight of each host. Where it is empty, all hosts have `outstanding`.
  std::vector<std::int64_t> outstanding_of{};
  Bandwidth offered{};  ///< open loop: Poisson arrivals of this payload rate at each host
  std::int64_t accesses = 20'000;  ///< of each host, including the warm-up
  double warm_up = 0.2;            ///< share of the accesses that is not measured
  std::int64_t hosts = 1;          ///< more than one needs a switch
  std::int64_t devices = 1;        ///< more than one needs a switch
  std::uint64_t seed = 1;
};

struct CxlProbeResult {
  Bandwidth bandwidth;             ///< payload of accesses that ended in the measurement window
  std::vector<Bandwidth> of_host;  ///< the same by host
  double jain = 1;                 ///< fairness of `of_host`: (sum x)^2 / (n sum x^2)
  LatencySummary read, write;      ///< from arrival to end
  std::vector<LatencySummary> read_of_host;
  double mean_in_system = 0;  ///< accesses, over the whole run
  Duration elapsed{};         ///< of the whole run
  Int128 stays = 0;           ///< sum of all latencies, ps: mean_in_system x elapsed
  std::int64_t accesses = 0;  ///< accesses that ended
  std::int64_t flits_down = 0, flits_up = 0;      ///< of the first host's link
  double slots_used_down = 0, slots_used_up = 0;  ///< share of occupied slots in these flits
  std::int64_t messages = 0;                      ///< over all links
  std::int64_t most_at_device = 0;        ///< largest number of requests in flight in one device
  std::int64_t credits_held = 0;          ///< at the end, over all classes and links
  std::int64_t credits_issued = 0;        ///< over all classes and links
  std::int64_t messages_left_behind = 0;  ///< messages not delivered at the end
  std::uint64_t events = 0;
};

/// Runs until every access has ended. `memories` are the memories of the devices, one for each; if
/// empty, config.device's memory latency and rate are used. Precondition: more than one host or
/// device only with a switch.
CxlProbeResult run_cxl_probe(const CxlPacketConfig& config, const CxlProbe& probe,
                             const std::vector<MemoryPort*>& memories = {});

}  // namespace tiersim
