#pragma once
// Model card: nvlink_probe
//   Models    microbenchmarks of a fabric: each flow makes accesses of `bytes`, up to a limit at a
//             time or at Poisson instants.
//   Equation  bandwidth = payload / time from the first access to the end of the last; the mean
//             number in the system is the time average of open accesses, so that it equals
//             throughput * mean latency (Little's law).
//   Ignores   the source of the accesses, and the memories at both ends except for
//             NvlinkNode::memory.
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
  bidirectional,   ///< from 0 to 1 and from 1 to 0
  incast,          ///< from all others to GPU 0
  all_to_all,      ///< from each GPU to each other one
  uniform,         ///< from each GPU to a random other one, drawn for each access
};
inline constexpr std::array<std::string_view, 5> kNvlinkPatternNames{
    "point_to_point", "bidirectional", "incast", "all_to_all", "uniform"};

struct NvlinkWorkload {
  NvlinkPattern pattern = NvlinkPattern::point_to_point;
  std::int64_t gpus = 8;         ///< of the node; incast has gpus - 1 senders
  Bytes bytes{};                 ///< size of one access
  std::int64_t accesses = 1;     ///< of each flow; of each GPU for uniform
  std::int64_t outstanding = 1;  ///< of each flow; of each GPU for uniform
  double read_share = 0;         ///< share of accesses that are reads, 0 to 1
  /// 0: a closed loop, where an access begins when another ends. Else an open loop: the mean of the
  /// exponential gaps between accesses of a flow.
  Duration mean_gap{};
  bool random_addresses = false;    ///< draws the first link of an access; else links take turns
  bool until_acknowledged = false;  ///< a write is done when its acknowledgement has returned
  std::uint64_t seed = 1;
};

struct NvlinkProbeResult {
  Duration time{};
  Bytes payload{};         ///< of all accesses
  double bandwidth = 0;    ///< bytes a second, all flows together
  LatencySummary latency;  ///< of accesses
  double mean_in_system = 0;
  std::vector<Bytes> payload_by_flow;  ///< moved until the first flow was complete
  std::vector<FabricPortCounters> ports;
  FabricCounters counters;
  std::uint64_t events = 0;
};

/// Runs one workload on the fabric of a node, from idle to idle.
NvlinkProbeResult run_nvlink_probe(const FabricShape& shape, const NvlinkWorkload& workload);
NvlinkProbeResult run_nvlink_probe(const NvlinkNode& node, const NvlinkWorkload& workload);

}  // namespace tiersim
