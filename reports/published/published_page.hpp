#pragma once
// Simulated servers against published runs, as a drawing and as a page.
#include <string>
#include <string_view>
#include <vector>

#include "reports/render/figure.hpp"
#include "sim/validate/published_score.hpp"

namespace tiersim {

/// Simulated over measured values: a panel for each metric with a point for each run, and the line
/// of equal values. Groups that no summary counts are left out; without any other there is no
/// panel.
Figure published_figure(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes);

/// One self-contained HTML page: the figure, the errors by group and label, and the runs of each
/// group with what is assumed of them. `version` is this program's.
std::string published_page(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes,
                           std::string_view version);

}  // namespace tiersim
