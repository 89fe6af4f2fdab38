#pragma once
// The one page that `tiersim reproduce` ends with: every table and figure of the papers beside what
// is simulated, with statuses, reasons, classes and run ids. Self-contained; see reports/html.
#include <string>
#include <vector>

#include "reports/papers/figures/paper_figure.hpp"
#include "reports/papers/reproduce/paper_report.hpp"

namespace tiersim {

struct PaperPage {
  PaperReport report;
  std::vector<DrawnFigure> figures = {};
};

/// `settings`: those that were laid under every scenario; `figures_folder`: where the files of the
/// figures are, as a reader of the page finds them.
std::string reproduce_page(const std::vector<PaperPage>& papers,
                           const std::vector<std::string>& settings,
                           const std::string& figures_folder);

}  // namespace tiersim
