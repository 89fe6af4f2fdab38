#pragma once
// A LaTeX document of all figures and tables of the papers, for the folder that holds them: what an
// author opens first, and copies from.
#include <string>
#include <vector>

#include "reports/papers/reproduce/reproduce_page.hpp"

namespace tiersim {

/// main.tex, and every table of at most a page as <paper>_<table>.tex beside it (booktabs), with
/// underscores for hyphens. `pdfs`:
/// stems of all figures that have a .pdf in the folder. Longer tables are named in main.tex; they
/// are in the papers' own folders.
std::vector<ReportFile> latex_files(const std::vector<PaperPage>& papers,
                                    const std::vector<std::string>& pdfs);

/// Name without extension of a section's own drawing in the folder of figures, where it must not be
/// taken for the paper's figure of the same thing: "early_exit_engine_h100_all", of every machine
/// and way.
std::string section_figure_stem(const PaperReport& report, const ReportFile& figure);

/// Text in LaTeX; `words in backquotes` are code, and what is not ASCII is "?".
std::string latex_text(std::string_view text);

}  // namespace tiersim
