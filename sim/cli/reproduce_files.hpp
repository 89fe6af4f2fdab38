#pragma once
// The files of `tiersim reproduce` besides each paper's report: one page, and one folder of figures
// and tables for LaTeX.
#include <filesystem>
#include <string>
#include <vector>

#include "reports/papers/figures/paper_figures.hpp"
#include "reports/papers/reproduce/paper_report.hpp"

namespace tiersim::cli {

/// Writes folder/index.html and folder/figures/ (.dat, .gp and, with gnuplot, .svg and .pdf of
/// every figure; every table as .tex; main.tex). Reports on stderr where they are and what could
/// not be drawn. Throws Failure.
void write_page(std::vector<PaperReport> reports, const std::vector<RecallPoint>& recall,
                const std::vector<std::string>& settings, const std::filesystem::path& folder);

}  // namespace tiersim::cli
