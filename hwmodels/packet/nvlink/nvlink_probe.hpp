#pragma once
// Model card: nvlink_probe
//   Models    microbenchmarks of a fabric: each flow makes accesses of `bytes`, up to a limit at a
//             time or at Poisson instants.
//   Equation  bandwidth = payload / time from the first access to the end of the last; the mean
//             number in the system is the integral of those that are open over that time, so that
//             it is throughput * mean latency (Little).
//   Ignores   what issues the accesses, and the memories at both ends but for NvlinkNode::memory.
//   Valid     as the fabric.
//   Source    p2pBandwidthLatencyTest of NVIDIA's samples and nvbandwidth, for the patterns.
//   Checked   tests/unit/packet/nvlink_probe_test.cpp
#include <array>
#include <string_view>
#include <vector>

#include "hwmodels/packet/latency_summary.hpp"
#include "hwmodels/packet/nvlink/nvlink_packet.hpp"

namespace tiersim {

enum class NvlinkPattern : std::uint8_t {
  point_to_point,  ///< from GPU 0 to 1
  bidirectional,   ///< and from 1 to 0
  incast,          ///< from all others to GPU 0
  all_to_all,      ///< from each to each other
  uniform,         ///< from each to one of the others, drawn for each access
};
inline constexpr std::array<std::string_view, 5> kNvlinkPatternNames{
    "point_to_point", "bidirectional", "incast", "all_to_all", "uniform"};

struct NvlinkWorkload {
  NvlinkPattern pattern = NvlinkPattern::point_to_point;
  std::int64_t gpus = 8;         ///< of the node; incast comes from gpus - 1
  Bytes bytes{};                 ///< of one access
  std::int64_t accesses = 1;     ///< of each flow; of each GPU where uniform
  std::int64_t outstanding = 1;  ///< of each flow; of each GPU where uniform
  double read_share = 0;         ///< share of accesses that are reads, 0 to 1
  /// 0: a closed loop, the next access when one is done. Else the mean gap between accesses of a
  /// flow, exponential, whatever is outstanding.
  Duration mean_gap{};
  bool random_addresses = false;  ///< the link that an access begins on is drawn, not the next one
  bool until_acknowledged = false;  ///< a write is done when its sender knows
  std::uint64_t seed = 1;
};

struct NvlinkProbeResult {
  Duration time{};
  Bytes payload{};         ///< of all accesses
  double bandwidth = 0;    ///< bytes a second, all flows together
  LatencySummary latency;  ///< of accesses
  double mean_in_system = 0;
  std::vector<Bytes> payload_by_flow;  ///< moved until the first flow had all of its own
  std::vector<FabricPortCounters> ports;
  FabricCounters counters;
  std::uint64_t events = 0;
};

/// The fabric of a node under one workload, from idle to idle.
NvlinkProbeResult run_nvlink_probe(const FabricShape& shape, const NvlinkWorkload& workload);
NvlinkProbeResult run_nvlink_probe(const NvlinkNode& node, const NvlinkWorkload& workload);

}  // namespace tiersim
