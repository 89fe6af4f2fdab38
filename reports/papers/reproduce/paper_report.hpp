#pragma once
// The report of `tiersim reproduce <paper>`: the printed table in each reading, cell by cell beside
// the simulated one, the figures, the decode steps, and results beyond the paper. Rendered from
// records and comparisons only.
#include <optional>
#include <string>
#include <vector>

#include "reports/papers/reproduce/compare.hpp"
#include "reports/papers/reproduce/section.hpp"
#include "reports/papers/studies/digest.hpp"
#include "reports/papers/studies/solve_result.hpp"
#include "reports/papers/studies/study_result.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

/// A row of the targets with its compared cells.
struct ReproducedRow {
  TargetRow target;
  std::vector<TargetResult> cells;
};

/// A decode step with its record, or with the reason why it cannot run.
struct ReproducedStep {
  TargetStep target;
  RunRecord record;
  std::string problem;  ///< empty when it ran
};

/// A figure or sweep with the results of its checks.
struct ReproducedStudy {
  StudyResult result;
  std::vector<TargetResult> checks;
};

struct PaperReport {
  std::string name;  ///< "maple"
  std::string paper;
  std::vector<ReproducedRow> rows;
  std::vector<ReproducedStep> steps;
  std::vector<ReproducedStudy> studies = {};
  std::vector<SolveResult> solves = {};
  std::optional<Digest> digest = {};
  std::vector<ReportSection> sections = {};

  bool all_hold() const;
};

/// The printed table in one reading.
Table comparison_table(const PaperReport& report, Reading reading);
Table shape_table(const PaperReport& report);
/// Results of the sections.
Table section_results(const PaperReport& report);
Table step_table(const PaperReport& report);
/// Empty where the paper has no digest.
Table digest_table(const PaperReport& report);

/// All tables in full, in the order of the text. The id of each is the name of its files.
std::vector<Table> all_tables(const PaperReport& report);

/// Text for a terminal. The summary has the paper's tables, checks, bars, steps and digest; `all`
/// adds every point of every study.
std::string to_text(const PaperReport& report, Shown shown);
std::string to_markdown(const PaperReport& report);

/// Every table as .csv and .tex, figures, report.md and report.json.
std::vector<ReportFile> files_of(const PaperReport& report);

/// `{targets: [...], decode_steps: [...], studies: [...], solves: [...], summary: {...}}`, ending
/// in a newline.
std::string to_json(const PaperReport& report);

}  // namespace tiersim
