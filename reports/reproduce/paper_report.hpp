#pragma once
// The report of `tiersim reproduce <paper>`: the printed table in each reading, cell by cell beside
// the simulated one, and the decode steps. Rendered from records and comparisons only.
#include <string>
#include <vector>

#include "reports/render/table.hpp"
#include "reports/reproduce/compare.hpp"

namespace tiersim {

/// A row of the targets with what came of it.
struct ReproducedRow {
  TargetRow target;
  std::vector<TargetResult> cells;
};

/// A step with its record, or with the reason why it cannot run.
struct ReproducedStep {
  TargetStep target;
  RunRecord record;
  std::string problem;  ///< empty when it ran
};

struct PaperReport {
  std::string name;  ///< "maple"
  std::string paper;
  std::vector<ReproducedRow> rows;
  std::vector<ReproducedStep> steps;

  bool all_hold() const;
};

/// The tables in the order in which they are shown.
std::vector<Table> tables_of(const PaperReport& report);

/// `{targets: [...], decode_steps: [...], summary: {...}}`, ending in a newline.
std::string to_json(const PaperReport& report);

}  // namespace tiersim
