// The packet level's answers. Where a curve's hardware has no packet model yet, it says so.
#include "sim/run/hardware/level_readings.hpp"

namespace tiersim {

LevelReading read_packet(const HardwareCurve&, const ReferencePoint&) {
  return {.value = {}, .why_none = "its devices state no packet-level parameters"};
}

}  // namespace tiersim
