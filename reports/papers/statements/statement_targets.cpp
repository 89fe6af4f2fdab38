#include "reports/papers/statements/statement_targets.hpp"

namespace tiersim {

void describe(Fields& f, StatementTarget& c) {
  f.doc("A statement of a paper about numerics.");
  f.required("id", c.id, "Path in the list of targets.");
  f.required("shown_by", c.shown_by, "Statement of the study that shows it.");
  f.required("where", c.where, "Proposition, equation or section.");
  f.required("says", c.says, "As the paper has it.");
  f.required("expect", c.expect, kStatementExpectationNames,
             "exact: holds to rounding; shape: an ordering holds; open: nothing is held to it.");
  f.optional("why", c.why, "Under `open`: what it would take to hold it.");
  f.check((c.expect == StatementExpectation::open) == !c.why.empty(), "why",
          "belongs to `expect: open`, and to nothing else",
          "say under `open` what it would take to hold the statement");
}

void describe(Fields& f, NumericsTargets& c) {
  f.doc("Statements of a paper on numerics, held to a numerical study.");
  f.required("id", c.id, "Path in the list of targets.");
  f.required("title", c.title, "Title of its table.");
  f.required("study", c.study, "Study, as `tiersim numerics` calls it.");
  f.optional("seed", c.seed, "Of the study's weights and tokens.", at_least(0));
  f.required("statements", c.statements, "The paper's statements.");
  f.optional("notes", c.notes, "Assumptions of the study.");
}

}  // namespace tiersim
