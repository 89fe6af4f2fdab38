#pragma once
// Statements of a paper beside what a numerical study found of them, as a section of a report.
#include <string>
#include <vector>

#include "reports/papers/reproduce/section.hpp"
#include "reports/papers/statements/statement_targets.hpp"

namespace tiersim {

/// What the study found of one statement.
struct StatementFinding {
  std::string found = {};  ///< the figures behind the verdict
  bool holds = false;
};

/// One finding for each statement of the targets, in their order. A result is 1 where the statement
/// holds: `pass` or `fail` for exact ones, `shape` or `fail` for orderings, `unexplained` for open
/// ones whatever was found. All but a pass say why.
ReportSection section_of(const NumericsTargets& targets,
                         const std::vector<StatementFinding>& findings);

}  // namespace tiersim
