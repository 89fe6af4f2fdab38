#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/papers/reproduce/targets.hpp"
#include "reports/papers/statements/statement_section.hpp"
#include "sim/config/describe.hpp"
#include "tests/unit/reports/table_texts.hpp"

namespace tiersim::statements_test {
namespace {

TargetResult result(StatementExpectation expect, bool holds) {
  NumericsTargets targets;
  targets.id = "paper.numerics";
  targets.statements = {{.id = "paper.numerics.one",
                         .shown_by = "one",
                         .where = "section 1",
                         .says = "1 is 1",
                         .expect = expect,
                         .why = expect == StatementExpectation::open ? "no weights" : ""}};
  const ReportSection section = section_of(targets, {{.found = "1 and 1", .holds = holds}});
  EXPECT_EQ(nlohmann::json::parse(section.json)[0]["holds"], holds);
  EXPECT_EQ(testing::shown(section.tables.at(0).table).at(0)[4], "1 and 1");
  return section.results.at(0);
}

TEST(Statements, ExactOnesPassOrFail) {
  const TargetResult held = result(StatementExpectation::exact, true);
  EXPECT_EQ(held.status, "pass");
  EXPECT_EQ(held.simulated, 1);
  EXPECT_EQ(held.why, "");
  const TargetResult broken = result(StatementExpectation::exact, false);
  EXPECT_EQ(broken.status, "fail");
  EXPECT_EQ(broken.simulated, 0);
  EXPECT_EQ(broken.why, "1 is 1; found: 1 and 1");
  EXPECT_FALSE(holds(broken));
}

TEST(Statements, OrderingsAreShapesOrFail) {
  EXPECT_EQ(result(StatementExpectation::shape, true).status, "shape");
  EXPECT_EQ(result(StatementExpectation::shape, false).status, "fail");
}

TEST(Statements, OpenOnesNeverPassAndSayWhatIsMissing) {
  for (const bool found : {true, false}) {
    const TargetResult open = result(StatementExpectation::open, found);
    EXPECT_EQ(open.status, "unexplained");
    EXPECT_EQ(open.simulated, found ? 1 : 0);
    EXPECT_EQ(open.why, "1 is 1: no weights; found: 1 and 1");
  }
}

std::string mistakes_in(const std::string& statement) {
  Diagnostics diagnostics;
  const Document document = load_text(
      "paper: p\nrows: []\nnumerics: {id: a, title: t, study: tpla, statements: [{id: s, "
      "shown_by: x, where: w, says: y, " +
          statement + "}]}",
      "t.yaml", {}, diagnostics);
  read<Targets>(document, "targets", diagnostics);
  return diagnostics.text();
}

TEST(Statements, OnlyAnOpenOneHasAReason) {
  EXPECT_EQ(mistakes_in("expect: exact"), "");
  EXPECT_EQ(mistakes_in("expect: open, why: z"), "");
  EXPECT_NE(mistakes_in("expect: open").find("belongs to `expect: open`"), std::string::npos);
  EXPECT_NE(mistakes_in("expect: shape, why: z").find("belongs to `expect: open`"),
            std::string::npos);
  EXPECT_NE(mistakes_in("expect: exactly").find("exact"), std::string::npos);
}

}  // namespace
}  // namespace tiersim::statements_test
