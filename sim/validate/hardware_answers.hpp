#pragma once
// The answers of the levels of fidelity to a point of a reference curve.
#include "sim/validate/hardware_curves.hpp"

namespace tiersim {

/// By the devices' own functions: unloaded, and alone.
LevelResult analytic_result(const HardwareCurve& curve, const ReferencePoint& point);
/// The same with what other accesses add: queueing at the offered rate, transfers in a network.
LevelResult flow_result(const HardwareCurve& curve, const ReferencePoint& point);
/// By packets, commands and credits.
LevelResult packet_result(const HardwareCurve& curve, const ReferencePoint& point);

/// All points at all levels.
CurveReading read_curve(const HardwareCurve& curve);

}  // namespace tiersim
