#pragma once
// Figures drawn by gnuplot, which is looked up at run time. Without it nothing is drawn, and the
// scripts remain for use elsewhere.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reports/render/figure.hpp"

namespace tiersim::cli {

/// The path of a program in PATH, or nothing.
std::optional<std::filesystem::path> find_program(const std::string& name);

/// Writes each figure's data and script into the folder and, with gnuplot, its .svg and .pdf, each
/// whole or not at all. The same figure gives the same bytes: the PDF's date is set to the
/// beginning of 1980. Throws Failure if the folder cannot be written.
std::vector<DrawnFigure> draw(const std::vector<Figure>& figures,
                              const std::filesystem::path& folder);

/// Converts an SVG to PDF with rsvg-convert; false if it is missing or fails.
bool convert_svg(const std::filesystem::path& svg, const std::filesystem::path& pdf);
bool convert_svg_text(const std::string& svg, const std::filesystem::path& pdf);

}  // namespace tiersim::cli
