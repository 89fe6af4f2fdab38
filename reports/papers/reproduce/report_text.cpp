// The report as text: the printed values of the paper, the checks of its figures, the decode steps,
// the questions, then the results beyond the paper.
#include <algorithm>

#include <fmt/format.h>

#include "reports/papers/reproduce/paper_report.hpp"

namespace tiersim {
namespace {

// File name of a part: "fig1_left_hbm" for "maple.fig1_left.hbm" of the paper "maple".
std::string file_stem(const PaperReport& report, std::string id) {
  std::string paper = report.name;  // "sparse-offload" has ids of "sparse_offload."
  std::ranges::replace(paper, '-', '_');
  if (id.starts_with(paper + '.')) id.erase(0, paper.size() + 1);
  std::ranges::replace(id, '.', '_');
  return id;
}

}  // namespace

std::vector<Table> all_tables(const PaperReport& report) {
  std::vector<Table> out;
  const auto add = [&](std::string id, Table table) {
    table.id = std::move(id);
    out.push_back(std::move(table));
  };
  add("table_paper", comparison_table(report, Reading::paper));
  add("table_first_principles", comparison_table(report, Reading::first_principles));
  add("figures", shape_table(report));
  if (!report.sections.empty()) add("results", section_results(report));
  add("decode_step", step_table(report));
  if (report.digest) add("digest", digest_table(report));
  for (const ReportSection& section : report.sections)
    for (const SectionTable& of_section : section.tables) out.push_back(of_section.table);
  for (const SolveResult& solve : report.solves)
    add(file_stem(report, solve.question.id), table_of(solve));
  for (const ReproducedStudy& study : report.studies)
    add(file_stem(report, study.result.study.id), table_of(study.result));
  return out;
}

namespace {

std::string study_text(const StudyResult& result, Shown shown) {
  std::string out;
  const std::string bars = bars_of(result);
  const bool bars_say_it = shown == Shown::summary && !bars.empty();
  if (!bars_say_it)
    for (const Table& table : tables_of(result, shown)) out += to_text(table) + '\n';
  return bars.empty() ? out : out + bars + '\n';
}

// All results beyond the paper: the questions, then the studies with their pivots.
std::string beyond_text(const PaperReport& report) {
  std::string out;
  for (const SolveResult& solve : report.solves) out += to_text(table_of(solve)) + '\n';
  for (const ReproducedStudy& study : report.studies) {
    if (!study.result.study.where.empty()) continue;
    if (!study.result.study.pivot.empty()) out += study_text(study.result, Shown::summary);
    out += study_text(study.result, Shown::all);
  }
  return out;
}

}  // namespace

std::string to_text(const PaperReport& report, Shown shown) {
  std::string out = report.paper + "\n\n";
  for (const Reading reading : {Reading::paper, Reading::first_principles})
    if (const Table table = comparison_table(report, reading); !table.rows.empty())
      out += to_text(table) + '\n';
  if (const Table shapes = shape_table(report); !shapes.rows.empty()) out += to_text(shapes) + '\n';
  for (const ReproducedStudy& study : report.studies)
    if (!study.result.study.where.empty()) out += study_text(study.result, shown);
  for (const ReportSection& section : report.sections)
    for (const auto& [table, digest] : section.tables)
      if (is_for(table.readers, TableForm::people) && (digest || shown == Shown::all))
        out += to_text(table) + '\n';
  if (!report.sections.empty()) out += to_text(section_results(report)) + '\n';
  if (!report.steps.empty()) out += to_text(step_table(report)) + '\n';
  if (const Table digest = digest_table(report); !digest.rows.empty())
    out += to_text(digest) + '\n';
  return shown == Shown::all ? out + beyond_text(report) : out;
}

std::string to_markdown(const PaperReport& report) {
  std::string out = fmt::format("# {}\n\n", report.paper);
  for (const Table& table : all_tables(report))
    if (is_for(table.readers, TableForm::people)) out += to_markdown(table) + '\n';
  for (const ReportSection& section : report.sections)
    for (const ReportFile& figure : section.figures)
      out += fmt::format("![{}]({})\n\n", section.id, figure.name);
  for (const ReproducedStudy& study : report.studies)
    if (const std::string bars = bars_of(study.result); !bars.empty())
      out += "```text\n" + bars + "```\n";
  return out;
}

std::vector<ReportFile> files_of(const PaperReport& report) {
  std::vector<ReportFile> out;
  for (const Table& table : all_tables(report)) {
    if (is_for(table.readers, TableForm::csv)) out.push_back({table.id + ".csv", to_csv(table)});
    if (is_for(table.readers, TableForm::people))
      out.push_back({table.id + ".tex", to_latex(table)});
  }
  for (const ReportSection& section : report.sections)
    out.insert(out.end(), section.figures.begin(), section.figures.end());
  out.push_back({"report.md", to_markdown(report)});
  out.push_back({"report.json", to_json(report)});
  return out;
}

}  // namespace tiersim
