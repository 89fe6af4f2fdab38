#pragma once
// A trace of the layers after which tokens left, as text:
//
//   # anything
//   6 5 5 4        request 0: the depths of its tokens, in the order in which they came
//   8 8 7          request 1 ...
//
// Depths count from 1. Used again from the start where a run has more requests, or a request more
// tokens, than the trace.
#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/importer.hpp"

namespace tiersim {

/// YAML `traced: [[6, 5, 5, 4], [8, 8, 7]]`, or every mistake (up to ten) with its file and line.
Expected<std::string, std::vector<ImportProblem>> import_depth_trace(
    const std::filesystem::path& path, const std::string& text);

}  // namespace tiersim
