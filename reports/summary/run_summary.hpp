#pragma once
// The summary that `tiersim run` prints for people: the run, the time of a step and its causes, the
// cost, the bytes held and moved by each tier, and the classes and intervals of the numbers.
// Control characters in names are printed as escapes.
#include <string>

#include "sim/record/run_record.hpp"

namespace tiersim {

std::string summary_text(const RunRecord& record);

}  // namespace tiersim
