#pragma once
// Figures drawn by gnuplot: found at run time, and where it is not, nothing is drawn and the
// scripts stay for whoever has it.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reports/papers/figures/paper_figure.hpp"

namespace tiersim::cli {

/// A program in a folder of the PATH, or nothing.
std::optional<std::filesystem::path> find_program(const std::string& name);

/// Writes each figure's data and script into the folder and, where there is gnuplot, its .svg and
/// .pdf, each whole or not at all. The same figure gives the same bytes: the PDF's date is set to
/// the beginning of 1980. Throws Failure when the folder cannot be written.
std::vector<DrawnFigure> draw(const std::vector<PaperFigure>& figures,
                              const std::filesystem::path& folder);

/// Another drawing as PDF, by rsvg-convert; false where it is not there or fails.
bool convert_svg(const std::filesystem::path& svg, const std::filesystem::path& pdf);

}  // namespace tiersim::cli
