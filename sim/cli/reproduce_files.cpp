#include "sim/cli/reproduce_files.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/papers/reproduce/latex_folder.hpp"
#include "reports/papers/reproduce/reproduce_page.hpp"
#include "sim/cli/gnuplot.hpp"
#include "sim/runner/files.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

// The sections' own drawings, for all machines and variants: SVG unchanged, PDF by a converter.
void add_section_figures(const PaperReport& report, const fs::path& folder,
                         std::vector<std::string>& pdfs) {
  for (const ReportSection& section : report.sections)
    for (const ReportFile& figure : section.figures) {
      const fs::path svg = folder / (section_figure_stem(report, figure) + ".svg");
      const fs::path pdf = fs::path(svg).replace_extension(".pdf");
      write_file(svg, figure.text);
      if (convert_svg(svg, pdf)) pdfs.push_back(pdf.stem().string());
    }
}

void say(const std::vector<PaperPage>& papers, const fs::path& folder) {
  std::size_t figures = 0;
  std::vector<std::string> problems;
  for (const PaperPage& paper : papers) {
    for (const ReportSection& section : paper.report.sections) figures += section.figures.size();
    for (const DrawnFigure& drawn : paper.figures) {
      if (drawn.problem.empty())
        ++figures;
      else
        problems.push_back(drawn.problem);
    }
  }
  if (!problems.empty())
    fmt::print(stderr, "tiersim: {} figures without a picture; the first: {}\n", problems.size(),
               problems.front());
  fmt::print(stderr,
             "tiersim: wrote {0}/index.html, one page of everything, and {0}/figures: {1} figures "
             "as PDF and SVG, tables, {2}\n",
             folder.string(), figures,
             find_program("pdflatex") ? "main.tex (`pdflatex main.tex` there)"
                                      : "main.tex for pdflatex, which is not here");
}

}  // namespace

void write_page(std::vector<PaperReport> reports, const std::vector<RecallPoint>& recall,
                const std::vector<std::string>& settings, const fs::path& folder) {
  const fs::path figures = folder / "figures";
  std::vector<PaperPage> papers;
  std::vector<std::string> pdfs;
  for (PaperReport& report : reports) {
    PaperPage& paper = papers.emplace_back();
    paper.figures = draw(figures_of(report, recall), figures);
    for (const DrawnFigure& drawn : paper.figures)
      if (!drawn.svg.empty()) pdfs.push_back(drawn.figure.stem);
    add_section_figures(report, figures, pdfs);
    paper.report = std::move(report);
  }
  for (const ReportFile& file : latex_files(papers, pdfs))
    write_file(figures / file.name, file.text);
  write_file(folder / "index.html", reproduce_page(papers, settings, "figures"));
  say(papers, folder);
}

}  // namespace tiersim::cli
