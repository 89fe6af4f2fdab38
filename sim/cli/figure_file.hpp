#pragma once
// The file that an option `--figure` names: an SVG, a PDF where rsvg-convert is, or "-", the SVG on
// stdout.
#include <string>
#include <vector>

namespace tiersim::cli {

/// Throws Failure (usage) unless the figure can be written and its name ends in .svg, or in .pdf
/// where the program that makes it is. An empty name is no figure. `sources` are read, and none of
/// them may be written over.
void expect_figure(const std::string& path, const std::vector<std::string>& sources = {});

/// Writes the figure and reports its path on stderr. An empty name is no figure.
void write_figure(const std::string& path, const std::string& svg);

}  // namespace tiersim::cli
