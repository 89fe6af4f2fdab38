#include "reports/papers/studies/digest.hpp"

#include <algorithm>

namespace tiersim {
namespace {

std::string study_cell(const StudyResult& study, const std::string& name,
                       const std::string& label) {
  for (const StudyRow& row : study.rows)
    if (row.point.labels.front() == label)
      return row.record ? cell_of(column_of(name, row.record.get()), *row.record).shown()
                        : "no fit";
  return "-";
}

std::string solve_cell(const SolveResult& solve, const std::string& label) {
  const auto at = std::ranges::find(solve.answers, label, &SolveAnswer::label);
  return at == solve.answers.end() ? "-" : answer_text(*at);
}

}  // namespace

Table digest_table(const Digest& digest, std::span<const StudyResult* const> studies,
                   std::span<const SolveResult> solves) {
  Table table{.title = digest.title, .columns = {{digest.rows, Align::left}}};
  std::vector<std::string> labels;
  for (const DigestColumn& column : digest.columns) {
    table.columns.push_back({column.title, Align::right});
    const auto study =
        std::ranges::find(studies, column.of, [](const auto* s) { return s->study.id; });
    if (study == studies.end()) continue;
    for (const StudyRow& row : (*study)->rows)
      if (std::ranges::find(labels, row.point.labels.front()) == labels.end())
        labels.push_back(row.point.labels.front());
  }
  for (const std::string& label : labels) {
    std::vector<std::string> cells{label};
    for (const DigestColumn& column : digest.columns) {
      const auto study =
          std::ranges::find(studies, column.of, [](const auto* s) { return s->study.id; });
      const auto solve =
          std::ranges::find(solves, column.of, [](const SolveResult& s) { return s.question.id; });
      if (study != studies.end())
        cells.push_back(study_cell(**study, column.column, label));
      else
        cells.push_back(solve == solves.end() ? "-" : solve_cell(*solve, label));
    }
    table.add(std::move(cells));
  }
  table.notes = digest.notes;
  return table;
}

}  // namespace tiersim
