#pragma once
// A calibration as files: a device overlay for the simulator (YAML), and its cases (CSV).
#include <string>
#include <vector>

#include "hwmodels/calibrate/fit/calibration.hpp"
#include "hwmodels/calibrate/read/timing.hpp"

namespace tiersim {

/// Name and origin of a calibration.
struct CalibrationOrigin {
  std::string name;  ///< "h200/2026-11-21-a1"
  std::string part;  ///< "h200"
};

/// True where the driver's device name denotes the part as folders and configurations spell it:
/// "NVIDIA GeForce RTX 4090" is rtx4090, "NVIDIA A100-SXM4-80GB" is a100_80, and neither is h100.
bool is_part(std::string_view device, std::string_view part);

/// Parts of the fits that the simulator's files cannot express, in words; empty where there are
/// none.
std::vector<std::string> problems_of(const TimingSet& set, const Calibration& calibration,
                                     const CalibrationOrigin& origin);

/// A device overlay of a roofline_gpu (schema tiersim.device/v1): `kernels` with a fit for each
/// family that has one. Numbers are `fitted` where the timings were measured, else `assumed`. The
/// set must have the data-sheet peaks of memory and of every fitted arithmetic.
std::string gpu_yaml(const TimingSet& set, const Calibration& calibration,
                     const CalibrationOrigin& origin);

/// One line for each case: fit, name, measured, predicted, low, high, error, held out.
std::string cases_csv(const Calibration& calibration);

}  // namespace tiersim
