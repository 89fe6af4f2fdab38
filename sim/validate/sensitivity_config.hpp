#pragma once
// The cases that can detect a change of a device's numbers (`schema: tiersim.sensitivity/v1`,
// reports/targets/sensitivity). A case is a reference curve of `tiersim validate hardware` or a
// workload of `tiersim validate levels`. The file gives the device's place in the case but no
// numbers: all numbers of the device are tested.
#include <optional>
#include <string>
#include <vector>

#include "sim/validate/fidelity_map_config.hpp"
#include "sim/validate/hardware_curves.hpp"

namespace tiersim {

/// A curve or a workload, and the device's place in it.
struct SensitivityCase {
  std::string curve;                 ///< id, or empty
  std::string workload;              ///< id, or empty
  std::string at;                    ///< "memory", "links.0", "collective"; "hbm", "pcie", ...
  std::vector<std::int64_t> points;  ///< of the curve, from 0; empty: all
  std::vector<Fidelity> levels;      ///< empty: flow and packet
};

struct SensitiveDevice {
  std::string name;
  std::string title;
  std::vector<SensitivityCase> cases;
};

/// The reason why no case detects a number.
struct SensitivityReason {
  std::string device;     ///< empty: for every device
  std::string parameter;  ///< its path, or the common beginning of several
  std::string why;
};

struct SensitivityConfig {
  std::string title;
  std::vector<HardwareCurves> curves;
  FidelityMapConfig levels;
  std::vector<SensitiveDevice> devices;
  std::vector<SensitivityReason> reasons;
};

void describe(Fields& f, SensitivityCase& c);
void describe(Fields& f, SensitiveDevice& c);
void describe(Fields& f, SensitivityReason& c);
void describe(Fields& f, SensitivityConfig& c);

}  // namespace tiersim
