#include "reports/papers/reproduce/latex_folder.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tiersim {
namespace {

// Longest table on one page, in rows.
constexpr std::size_t kLatexRowsMax = 45;

// Tables wider than the text are scaled to its width, which is that of the widest figure. The
// packages are in texlive-latex-base and -recommended.
constexpr std::string_view kHead = R"(% pdflatex main.tex
\documentclass[10pt,a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage[margin=1.6cm]{geometry}
\usepackage{booktabs}
\usepackage{graphicx}
\usepackage{float}
\newsavebox{\wholetable}
\let\plaintabular\tabular
\let\endplaintabular\endtabular
\renewenvironment{tabular}[1]%
  {\begin{lrbox}{\wholetable}\footnotesize\plaintabular{#1}}%
  {\endplaintabular\end{lrbox}%
   \ifdim\wd\wholetable>\linewidth\resizebox{\linewidth}{!}{\usebox{\wholetable}}%
   \else\usebox{\wholetable}\fi}
\floatplacement{table}{H}
\floatplacement{figure}{H}
\begin{document}
)";

void add_figure(std::string& out, const Figure& figure) {
  out += fmt::format(
      "\\begin{{figure}}\n\\centering\n\\includegraphics{{{}.pdf}}\n\\caption{{{}{}}}\n"
      "\\end{{figure}}\n",
      figure.stem, figure.where.empty() ? "" : latex_text(figure.where) + ". ",
      latex_text(figure.caption));
}

bool has_pdf(const std::vector<std::string>& pdfs, const std::string& stem) {
  return std::ranges::find(pdfs, stem) != pdfs.end();
}

// Underscores, as in the stems of the papers' figures, so that no two names differ by a hyphen
// only.
std::string in_underscores(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace

std::string section_figure_stem(const PaperReport& report, const ReportFile& figure) {
  return in_underscores(report.name + '_' + figure.name.substr(0, figure.name.rfind('.')) + "_all");
}

std::string latex_text(std::string_view text) {
  std::string out;
  bool in_code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '`') {
      const bool opens = !in_code && text.find('`', i + 1) != std::string_view::npos;
      out += opens ? "\\texttt{" : in_code ? "}" : "\\`{}";
      in_code = opens;
    } else if (c == '"')
      out += "''";
    else if (c == '\\')
      out += "\\textbackslash{}";
    else if (c == '~' || c == '^')
      out += fmt::format("\\{}{{}}", c);
    else if (c == '<' || c == '>' || c == '|')
      out += fmt::format("${}$", c == '|' ? "\\mid" : std::string(1, c));
    else if (std::string_view("&%$#_{}").find(c) != std::string_view::npos)
      out += fmt::format("\\{}", c);
    else if ((static_cast<unsigned char>(c) & 0x80U) == 0)
      out += c;
    else if ((static_cast<unsigned char>(c) & 0xC0U) == 0xC0U)
      out += '?';  // first byte of a character beyond ASCII; the other bytes add nothing
  }
  return out;
}

std::vector<ReportFile> latex_files(const std::vector<PaperPage>& papers,
                                    const std::vector<std::string>& pdfs) {
  std::vector<ReportFile> out;
  std::string document(kHead);
  for (const PaperPage& paper : papers) {
    document += fmt::format("\\section{{{}}}\n", latex_text(paper.report.paper));
    for (const DrawnFigure& drawn : paper.figures)
      if (has_pdf(pdfs, drawn.figure.stem)) add_figure(document, drawn.figure);
    for (const ReportSection& section : paper.report.sections)
      for (const ReportFile& figure : section.figures) {
        const std::string stem = section_figure_stem(paper.report, figure);
        if (!has_pdf(pdfs, stem)) continue;
        document += fmt::format(
            "\\begin{{figure}}\n\\centering\n\\includegraphics[width=\\linewidth,height="
            "0.9\\textheight,keepaspectratio]{{{}.pdf}}\n\\caption{{{}}}\n\\end{{figure}}\n",
            stem, latex_text(section.id));
      }
    for (const Table& table : all_tables(paper.report)) {
      if (table.rows.empty() || !is_for(table.readers, TableForm::people)) continue;
      const std::string name = in_underscores(paper.report.name + '_' + table.id) + ".tex";
      if (table.rows.size() > kLatexRowsMax) {
        document +=
            fmt::format("% {} rows: {}/{}.tex\n", table.rows.size(), paper.report.name, table.id);
        continue;
      }
      Table labelled = table;  // papers share one document, in which labels must differ
      labelled.id = paper.report.name + '_' + table.id;
      out.push_back({name, to_latex(labelled)});
      document += fmt::format("\\input{{{}}}\n", name);
    }
    document += "\\clearpage\n";
  }
  document += "\\end{document}\n";
  out.push_back({"main.tex", std::move(document)});
  return out;
}

}  // namespace tiersim
