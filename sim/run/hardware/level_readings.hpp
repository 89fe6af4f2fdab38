#pragma once
// The answers of the levels of fidelity to a point of a reference curve.
#include "sim/run/hardware/probe_config.hpp"

namespace tiersim {

/// By the devices' own functions: unloaded, and alone.
LevelReading read_analytic(const HardwareCurve& curve, const ReferencePoint& point);
/// The same with what other accesses add: queueing at the offered rate, transfers in a network.
LevelReading read_flow(const HardwareCurve& curve, const ReferencePoint& point);
/// By packets, commands and credits.
LevelReading read_packet(const HardwareCurve& curve, const ReferencePoint& point);

/// All points at all levels.
CurveReading read_curve(const HardwareCurve& curve);

}  // namespace tiersim
