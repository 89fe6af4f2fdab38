#include "reports/papers/reproduce/compare.hpp"

#include <gtest/gtest.h>

#include "reports/papers/reproduce/paper_report.hpp"

namespace tiersim::compare_test {
namespace {

RunRecord record(double footprint_gib, double load_gib) {
  constexpr double kGiB = 1073741824.0;
  RunRecord r;
  r.metrics["kv_footprint_bytes"] = {footprint_gib * kGiB, "B", NumberClass::specification};
  r.metrics["far_load_bytes"] = {load_gib * kGiB, "B", NumberClass::specification};
  return r;
}

TargetRow row(const std::string& quantity, TargetCell cell) {
  return {.id = "paper.table",
          .label = "model",
          .method = "method",
          .reading = Reading::paper,
          .cells = {{quantity, std::move(cell)}}};
}

std::string status(const std::string& quantity, TargetCell cell, const RunRecord& r,
                   const RunRecord& baseline) {
  return compare(row(quantity, std::move(cell)), r, baseline).at(0).status;
}

TEST(Compare, AnExactCellPassesOnlyToThePrintedDigits) {
  const RunRecord r = record(768, 132);
  EXPECT_EQ(status("footprint", {.paper = 768}, r, r), "pass");
  EXPECT_EQ(status("footprint", {.paper = 768.004}, r, r), "pass");
  EXPECT_EQ(status("footprint", {.paper = 768.01}, r, r), "fail");
}

// 1 - 132/512 = .7421875, printed .7422; 1 - 256.25/1000 = .74375, printed .7438: on the edge.
TEST(Compare, RatiosRoundAsPrinted) {
  EXPECT_EQ(status("reduction", {.paper = 0.7422}, record(768, 132), record(512, 512)), "pass");
  EXPECT_EQ(status("reduction", {.paper = 0.7438}, record(1500, 256.25), record(1000, 1000)),
            "pass");
  EXPECT_EQ(status("reduction", {.paper = 0.7423}, record(768, 132), record(512, 512)), "fail");
  EXPECT_EQ(status("overhead", {.paper = 0.5}, record(768, 132), record(512, 512)), "pass");
}

TEST(Compare, ARuleCellIsHeldToTheRuleAndShowsThePrintedValue) {
  const TargetCell cell{.paper = 543, .expect = Expectation::rule, .value = 544, .why = "31/32"};
  const auto good = compare(row("footprint", cell), record(544, 1), record(512, 1)).at(0);
  EXPECT_EQ(good.status, "rule");
  EXPECT_EQ(good.paper, 543);
  EXPECT_EQ(good.simulated, 544);
  EXPECT_EQ(good.why, "31/32");
  // Meeting the printed value instead of the rule is a failure: the model must not bend to it.
  EXPECT_EQ(status("footprint", cell, record(543, 1), record(512, 1)), "fail");
}

TEST(PaperReport, OneFailedCellFailsTheReport) {
  PaperReport report;
  report.rows.push_back({row("footprint", {.paper = 1}), {}});
  report.rows.back().cells = compare(report.rows.back().target, record(1, 1), record(1, 1));
  EXPECT_TRUE(report.all_hold());
  report.rows.back().cells = compare(report.rows.back().target, record(2, 1), record(1, 1));
  EXPECT_FALSE(report.all_hold());
}

}  // namespace
}  // namespace tiersim::compare_test
