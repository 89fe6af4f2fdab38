#pragma once
// A calibration as tables for people and as JSON for programs.
#include <string>
#include <vector>

#include "hwmodels/calibrate/fit/calibration.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

/// Parameters with intervals, errors on fitted and held-out cases, and the fit that each kernel
/// family uses.
std::vector<Table> calibration_tables(const Calibration& calibration);

/// `{fits: [...], families: {...}, left_out: [...]}` on one line; SI units.
std::string calibration_json(const Calibration& calibration);

}  // namespace tiersim
