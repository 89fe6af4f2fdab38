#pragma once
// The packet level's answers for what goes over an NVLink fabric; packet_result() of
// hardware_answers.hpp is what callers use.
#include "sim/validate/hardware_curves.hpp"

namespace tiersim {

inline LevelResult no_packets(std::string why) {
  return {.value = {}, .why_none = std::move(why)};
}

/// Whether the first link is an NVLink port.
bool is_nvlink(const HardwareCurve& curve);

/// Accesses from one GPU to another; a read share of .5 is writes both ways at once, as
/// p2pBandwidthLatencyTest has them. Precondition: is_nvlink().
LevelResult read_nvlink(const HardwareCurve& curve, const ProbeWorkload& asked);

/// An all-reduce by the algorithm that the flow level takes, or the one that the file names.
LevelResult read_collective(const HardwareCurve& curve, const ProbeWorkload& asked);

}  // namespace tiersim
