#pragma once
// The page that `tiersim reproduce` writes: every table and figure of the papers beside the
// simulated values, with statuses, reasons, classes and run ids. Self-contained; see reports/html.
#include <string>
#include <vector>

#include "reports/papers/reproduce/paper_report.hpp"
#include "reports/render/figure.hpp"

namespace tiersim {

struct PaperPage {
  PaperReport report;
  std::vector<DrawnFigure> figures = {};
};

/// `settings`: those applied to every scenario. `figures_folder`: the folder of the figures' files,
/// relative to the page.
std::string reproduce_page(const std::vector<PaperPage>& papers,
                           const std::vector<std::string>& settings,
                           const std::string& figures_folder);

}  // namespace tiersim
