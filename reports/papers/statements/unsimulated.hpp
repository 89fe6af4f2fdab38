#pragma once
// Printed values that are not simulated, each with the reason, so that a reader sees all that is
// published. They are listed as `unexplained`. Data in reports/targets:
//
//   unsimulated:
//     - {id: sparse_offload.npu, where: "...", says: "...", printed: 1.6, unit: ratio, why: "..."}
#include <string>
#include <vector>

#include "reports/papers/reproduce/section.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

struct UnsimulatedValue {
  std::string id = {};
  std::string where = {};  ///< source, for readers
  std::string says = {};
  double printed = 0;
  std::string unit = {};
  std::string why = {};  ///< what a simulation would need
};
void describe(Fields& f, UnsimulatedValue& c);

/// One table; the simulated values of its results are not a number.
ReportSection section_of(const std::vector<UnsimulatedValue>& values);

}  // namespace tiersim
