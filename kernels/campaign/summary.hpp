// The results of a campaign for people: lower bounds, measured times, drift of the ceilings.
#pragma once
#include <filesystem>
#include <string>

namespace tiersim::kernels::bench {

// Tables of the stages that have run, and a line for each that has not. Throws JsonError for a file
// that cannot be read.
std::string summary(const std::filesystem::path& folder);

}  // namespace tiersim::kernels::bench
