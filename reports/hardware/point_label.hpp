#pragma once
// Labels of a point of a hardware curve: on an axis, in a table, and in the id of a case.
#include <string>

#include "sim/record/probe_record.hpp"

namespace tiersim {

/// "run B", "size B", "offered GB/s", "read share"; "point" where the curve has one point only.
std::string axis_label(ProbeAxis axis);
/// "64 B", "1 MiB", "26.4", "0.67".
std::string axis_text(ProbeAxis axis, const ReferencePoint& point);
/// "curve", or "curve.64b" with the position on the axis.
std::string case_id(const CurveFacts& facts, const ReferencePoint& point);

}  // namespace tiersim
