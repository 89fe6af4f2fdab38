// What a campaign found, for people: floors, measured times, drift of the ceilings.
#pragma once
#include <filesystem>
#include <string>

namespace tiersim::kernels::bench {

// Tables of the stages that have run; says so of those that have not. Throws JsonError for a file
// that cannot be read.
std::string summary(const std::filesystem::path& folder);

}  // namespace tiersim::kernels::bench
