#pragma once
// A LaTeX document of all figures and tables of the papers, for the folder that holds them: what an
// author opens first, and copies from.
#include <string>
#include <vector>

#include "reports/reproduce/reproduce_page.hpp"

namespace tiersim {

/// main.tex, and every table of at most a page as <paper>_<table>.tex beside it (booktabs). `pdfs`:
/// stems of all figures that have a .pdf in the folder. Longer tables are named in main.tex; they
/// are in the papers' own folders.
std::vector<ReportFile> latex_files(const std::vector<PaperPage>& papers,
                                    const std::vector<std::string>& pdfs);

/// Text in LaTeX, where pdflatex knows its characters; others are "?".
std::string latex_text(std::string_view text);

}  // namespace tiersim
