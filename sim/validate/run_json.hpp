#pragma once
// Results of benchmarks that are written as JSON, as rows of a table (run_table.hpp).
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/read/csv_table.hpp"
#include "sim/config/diagnostics.hpp"

namespace tiersim {

/// True for text that begins as JSON does, and not as a table.
bool looks_like_json(std::string_view text);

/// The table with a row for each object: of one object, a list of them, or one a line. A column is
/// the path of a number, text or truth value: "mean_ttft_ms", "ttft.avg"; lists are left out. The
/// header has those of `columns` that occur. NaN is no value, and Infinity the text inf.
/// Mistakes: what is no JSON, no object, a number beyond double, objects nested more than 32 deep.
detail::CsvTable table_of_json(const std::string& file, std::string_view text,
                               const std::vector<std::string>& columns, Diagnostics& diagnostics);

}  // namespace tiersim
