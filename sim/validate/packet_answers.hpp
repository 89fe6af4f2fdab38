#pragma once
// The packet level's results for an NVLink fabric; callers use packet_result() of
// hardware_answers.hpp.
#include "sim/validate/hardware_curves.hpp"

namespace tiersim {

inline LevelResult no_packets(std::string why) {
  return {.value = {}, .why_none = std::move(why)};
}

/// True where the first link is an NVLink port.
bool is_nvlink(const HardwareCurve& curve);

/// Accesses from one GPU to another. A read share of .5 means writes in both directions at once, as
/// in p2pBandwidthLatencyTest. Requires is_nvlink().
LevelResult read_nvlink(const HardwareCurve& curve, const ProbeWorkload& asked);

/// An all-reduce by the algorithm of the flow level, or the one that the file names.
LevelResult read_collective(const HardwareCurve& curve, const ProbeWorkload& asked);

}  // namespace tiersim
