#pragma once
// The results of the levels of fidelity for a point of a reference curve.
#include "sim/validate/dram_probes.hpp"
#include "sim/validate/hardware_curves.hpp"

namespace tiersim {

/// The result at the analytic level, from the devices' own formulas, without load or contention.
LevelResult analytic_result(const HardwareCurve& curve, const ReferencePoint& point);
/// The same with contention: queueing at the offered rate, and transfers in a flow network.
LevelResult flow_result(const HardwareCurve& curve, const ReferencePoint& point);
/// The result at the packet level, from a simulation of packets, commands and credits.
LevelResult packet_result(const HardwareCurve& curve, const ReferencePoint& point);
/// The same, with the probes of a DRAM that `probes` knows already.
LevelResult packet_result(const HardwareCurve& curve, const ReferencePoint& point,
                          DramProbes& probes);

/// The results of all points at all levels.
CurveReading read_curve(const HardwareCurve& curve);

}  // namespace tiersim
