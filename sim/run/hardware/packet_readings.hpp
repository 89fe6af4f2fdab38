#pragma once
// The packet level's answers for what goes over an NVLink fabric; read_packet() of
// level_readings.hpp is what others ask.
#include "sim/run/hardware/probe_config.hpp"

namespace tiersim {

inline LevelReading no_packets(std::string why) {
  return {.value = {}, .why_none = std::move(why)};
}

/// Whether the first link is an NVLink port.
bool is_nvlink(const HardwareCurve& curve);

/// Accesses from one GPU to another; a read share of .5 is writes both ways at once, as
/// p2pBandwidthLatencyTest has them. Precondition: is_nvlink().
LevelReading read_nvlink(const HardwareCurve& curve, const ProbeWorkload& asked);

/// An all-reduce by the algorithm that the flow level takes, or the one that the file names.
LevelReading read_collective(const HardwareCurve& curve, const ProbeWorkload& asked);

}  // namespace tiersim
