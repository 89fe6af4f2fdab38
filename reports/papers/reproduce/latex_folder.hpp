#pragma once
// A LaTeX document of all figures and tables of the papers, for the folder that holds them: a
// starting point for authors.
#include <string>
#include <vector>

#include "reports/papers/reproduce/reproduce_page.hpp"

namespace tiersim {

/// main.tex, and every table of at most a page as <paper>_<table>.tex beside it (booktabs), with
/// underscores for hyphens. `pdfs` lists the stems of the figures that have a .pdf in the folder.
/// main.tex names longer tables, which are in the folders of their papers.
std::vector<ReportFile> latex_files(const std::vector<PaperPage>& papers,
                                    const std::vector<std::string>& pdfs);

/// File name without extension of a section's own drawing in the folder of figures:
/// "early_exit_engine_h100_all", with all machines and ways. It differs from that of the paper's
/// figure of the same subject.
std::string section_figure_stem(const PaperReport& report, const ReportFile& figure);

/// Text escaped for LaTeX; `words in backquotes` are code, and characters beyond ASCII become "?".
std::string latex_text(std::string_view text);

}  // namespace tiersim
