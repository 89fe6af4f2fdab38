#pragma once
// --baseline of reports: the label of a point, or a file with one point.
#include <optional>
#include <string>

#include "reports/footprint/point_labels.hpp"
#include "sim/cli/point_sources.hpp"

namespace tiersim::cli {

void add_baseline(Verb kind, std::string& baseline);

/// Nothing if `text` is empty. A file is run or read in the same way as the sources. Throws Failure
/// if `text` is neither a label nor a file with one point.
std::optional<Baseline> find_baseline(const std::string& text, const PointTable& table,
                                      const SourceOptions& options, Evaluation evaluation);

}  // namespace tiersim::cli
