#pragma once
// Results of benchmarks that are written as JSON, as rows of a table (run_table.hpp).
#include <string>
#include <string_view>

#include "sim/base/expected.hpp"
#include "sim/config/diagnostics.hpp"

namespace tiersim {

/// True for text that begins as JSON does, and not as a table.
bool looks_like_json(std::string_view text);

/// The table with a row for each object: of one object, a list of them, or one a line. A column is
/// the path of a number, text or truth value: "mean_ttft_ms", "ttft.avg"; lists are left out. The
/// error has the place of the first mistake.
Expected<std::string, Diagnostics> csv_of_json(const std::string& file, std::string_view text);

}  // namespace tiersim
