#pragma once
// --baseline of reports: a label of the points, or a file of one point.
#include <optional>
#include <string>

#include "reports/footprint/point_labels.hpp"
#include "sim/cli/point_sources.hpp"

namespace tiersim::cli {

void add_baseline(Verb kind, std::string& baseline);

/// Nothing where `text` is empty. A file is run or read as the sources are. Throws Failure where it
/// is neither a label nor a file of one point.
std::optional<Baseline> find_baseline(const std::string& text, const PointTable& table,
                                      const SourceOptions& options, Evaluation evaluation);

}  // namespace tiersim::cli
