#include "sim/study/statement_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/papers/statements/statement_section.hpp"
#include "sim/base/text.hpp"
#include "sim/runner/failure.hpp"
#include "workloads/numerics/early_exit_study.hpp"
#include "workloads/numerics/tpla_study.hpp"

namespace tiersim {
namespace {

StatementFinding finding_of(const std::string& id,
                            const std::vector<numerics::Statement>& statements) {
  const auto found = std::ranges::find(statements, id, &numerics::Statement::id);
  if (found != statements.end()) return {.found = found->found, .holds = found->holds};
  std::vector<std::string> ids;
  for (const numerics::Statement& statement : statements) ids.push_back(statement.id);
  throw Failure(ExitCode::bad_config,
                fmt::format("tiersim: error: numerics: no statement '{}' is in the study (there "
                            "are: {})",
                            id, join(ids)));
}

std::vector<ReportSection> sections_of(const NumericsTargets& targets) {
  const auto seed = static_cast<std::uint64_t>(targets.seed);
  const auto statements = targets.study == "tpla" ? numerics::tpla_statements(seed)
                                                  : numerics::early_exit_study(seed).statements;
  std::vector<StatementFinding> findings;
  for (const StatementTarget& target : targets.statements)
    findings.push_back(finding_of(target.shown_by, statements));
  return {section_of(targets, findings)};
}

}  // namespace

std::future<std::vector<ReportSection>> start_numerics(const Targets& targets) {
  if (targets.numerics && targets.numerics->study != "tpla" &&
      targets.numerics->study != "early-exit")
    throw Failure(ExitCode::bad_config,
                  fmt::format("tiersim: error: numerics: no study '{}' has statements of a paper "
                              "(there are: early-exit, tpla)",
                              targets.numerics->study));
  return std::async(std::launch::async, [numerics = targets.numerics] {
    return numerics ? sections_of(*numerics) : std::vector<ReportSection>{};
  });
}

}  // namespace tiersim
