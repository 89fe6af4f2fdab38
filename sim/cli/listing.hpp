#pragma once
// What `tiersim list WHAT --json` prints, for others than the command line.
#include <string>

namespace tiersim::cli {

/// A JSON array. Throws Failure where there is no such list.
std::string listing_json(const std::string& what);

}  // namespace tiersim::cli
