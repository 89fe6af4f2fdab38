#pragma once
// Statements of a paper beside the findings of a numerical study, as a section of a report.
#include <string>
#include <vector>

#include "reports/papers/reproduce/section.hpp"
#include "reports/papers/statements/statement_targets.hpp"

namespace tiersim {

/// The finding of the study about one statement.
struct StatementFinding {
  std::string found = {};  ///< the figures behind the verdict
  bool holds = false;
};

/// There is one finding for each statement of the targets, in their order. A result is 1 where the
/// statement holds. Its status is `pass` or `fail` for exact statements, `shape` or `fail` for
/// orderings, and `unexplained` for open ones. Every result but a pass has a reason.
ReportSection section_of(const NumericsTargets& targets,
                         const std::vector<StatementFinding>& findings);

}  // namespace tiersim
