#pragma once
// A figure as a gnuplot script with its data, so that an author can restyle what a paper shows:
// fonts of 8 pt and less, thin axes, no title inside, colours of Okabe and Ito with dashes and
// markers of their own, printed values as hollow markers. Running the script in the folder of the
// files draws <stem>.svg and <stem>.pdf.
#include <string>
#include <vector>

#include "reports/papers/figures/paper_figure.hpp"
#include "reports/papers/reproduce/section.hpp"

namespace tiersim {

/// A block for each series, in the order of panels, two blank lines between: columns x, y, low,
/// high, from; NaN where there is none. A comment before each block says what it is.
std::string gnuplot_data(const PaperFigure& figure);

/// Needs gnuplot 5.4 with its svg and pdfcairo terminals.
std::string gnuplot_script(const PaperFigure& figure);

/// <stem>.dat and <stem>.gp.
std::vector<ReportFile> gnuplot_files(const PaperFigure& figure);

/// Text in double quotes, as gnuplot reads it.
std::string gnuplot_quoted(const std::string& text);

}  // namespace tiersim
