#pragma once
// A figure as a gnuplot script with its data, so that an author can restyle it. The style is that
// of a paper: fonts of 8 pt and less, thin axes, no title inside, colours of Okabe and Ito, a dash
// and a marker for each line, and hollow markers for printed values. Run in the folder of its
// files, the script draws <stem>.svg and <stem>.pdf.
#include <string>
#include <vector>

#include "reports/render/figure.hpp"
#include "reports/render/report_file.hpp"

namespace tiersim {

/// A block for each series in the order of panels, two blank lines apart: columns x, y, low, high,
/// from; NaN where there is no value. A comment before each block names it.
std::string gnuplot_data(const Figure& figure);

/// Needs gnuplot 5.4 with its svg and pdfcairo terminals.
std::string gnuplot_script(const Figure& figure);

/// <stem>.dat and <stem>.gp.
std::vector<ReportFile> gnuplot_files(const Figure& figure);

/// Text in double quotes, escaped for gnuplot.
std::string gnuplot_quoted(const std::string& text);

}  // namespace tiersim
