#include "reports/papers/statements/statement_section.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

std::string status_of(const StatementTarget& target, bool holds) {
  if (target.expect == StatementExpectation::open) return "unexplained";
  if (!holds) return "fail";
  return target.expect == StatementExpectation::exact ? "pass" : "shape";
}

TargetResult result_of(const StatementTarget& target, const StatementFinding& finding) {
  TargetResult out{.id = target.id,
                   .reading = "paper",
                   .paper = 1,
                   .simulated = finding.holds ? 1.0 : 0.0,
                   .unit = "holds",
                   .tolerance = 0,
                   .status = status_of(target, finding.holds),
                   .why = {}};
  const bool passes = target.expect == StatementExpectation::exact && finding.holds;
  if (!passes)
    out.why = fmt::format("{}{}{}; found: {}", target.says, target.why.empty() ? "" : ": ",
                          target.why, finding.found);
  return out;
}

}  // namespace

ReportSection section_of(const NumericsTargets& targets,
                         const std::vector<StatementFinding>& findings) {
  TS_EXPECTS(findings.size() == targets.statements.size(), findings.size(),
             targets.statements.size());
  ReportSection section{.id = targets.id};
  Table table{.title = targets.title, .notes = targets.notes};
  for (const char* title : {"where", "says", "expected", "status", "found"})
    table.columns.push_back({title, Align::left});
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const StatementTarget& target = targets.statements[i];
    const TargetResult& result = section.results.emplace_back(result_of(target, findings[i]));
    const std::string expected(
        kStatementExpectationNames.at(static_cast<std::size_t>(target.expect)));
    table.add({target.where, target.says, expected, result.status, findings[i].found});
    rows.push_back({{"id", target.id},
                    {"where", target.where},
                    {"says", target.says},
                    {"expect", expected},
                    {"holds", findings[i].holds},
                    {"found", findings[i].found}});
  }
  section.add("numerics", std::move(table));
  section.json = rows.dump();
  return section;
}

}  // namespace tiersim
