// Output lines of `conformance --compare` as entries of the stage's file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kernels/campaign/json.hpp"

namespace tiersim::kernels::bench {

// "name agrees N words...", "name DIFFERS D of N words; ...", "name FAILED ...", "name MISSING
// ..."; other lines are skipped. A probe without words is a refusal (name, reason), not an entry.
struct ProbeLines {
  std::vector<Json> entries;
  std::vector<std::pair<std::string, std::string>> refusals;
};
ProbeLines read_probe_lines(std::string_view text);

}  // namespace tiersim::kernels::bench
