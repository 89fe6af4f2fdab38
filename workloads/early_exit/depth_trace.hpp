#pragma once
// A trace of the layers after which tokens exited, as text:
//
//   # anything
//   6 5 5 4        request 0: the exit depths of its tokens, in order
//   8 8 7          request 1 ...
//
// Depths count from 1. A run with more requests, or a request with more tokens, than the trace
// starts over at its beginning.
#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/importer.hpp"

namespace tiersim {

/// YAML `traced: [[6, 5, 5, 4], [8, 8, 7]]`, or every mistake (up to ten) with its file and line.
Expected<std::string, std::vector<ImportProblem>> import_depth_trace(
    const std::filesystem::path& path, const std::string& text);

}  // namespace tiersim
