#pragma once
// What `tiersim run` prints for people: what was run, how long a step takes and why, what it costs,
// what lives and moves where, and how far the numbers can be trusted. Control characters in names
// are printed as escapes.
#include <string>

#include "sim/record/run_record.hpp"

namespace tiersim {

std::string summary_text(const RunRecord& record);

}  // namespace tiersim
