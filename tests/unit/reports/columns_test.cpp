#include "reports/papers/studies/columns.hpp"

#include <array>

#include <gtest/gtest.h>

#include "reports/papers/studies/solve_result.hpp"
#include "tests/unit/reports/study_records.hpp"
#include "tests/unit/reports/table_texts.hpp"

namespace tiersim::columns_test {
namespace {

std::string text(double value, const std::string& unit) {
  return Cell::quantity(value, unit).shown();
}

TEST(Columns, AreShownInFittingUnits) {
  EXPECT_EQ(text(0.0123456, "s"), "12.35 ms");
  EXPECT_EQ(text(0, "s"), "0");
  EXPECT_EQ(text(0.99996e-3, "s"), "1 ms");  // not 1000 us
  EXPECT_EQ(text(3.0 * (1LL << 30), "B"), "3 GiB");
  EXPECT_EQ(text(35.2e9, "B/s"), "35.2 GB/s");
  EXPECT_EQ(text(1.669e13, "FLOP/s"), "16.69 TFLOP/s");
  EXPECT_EQ(text(0.4125, "ratio"), "41.2 %");
  EXPECT_EQ(text(123456, "tokens"), "123456");
  EXPECT_EQ(text(0.7244, "J"), "0.7244 J");
  const RunRecord none;
  EXPECT_EQ(cell_of(column_of("step_time_s", nullptr), none).shown(), "-");
  EXPECT_EQ(cell_of(column_of("step_time_s", nullptr), none).exact(), "");
}

TEST(Columns, ThePartsOfTheSplitSumToTheStep) {
  const RunRecord record = testing::step_record(1, 3);
  double seconds = 0;
  double shares = 0;
  for (const std::string& name : expanded({"split"}))
    seconds += cell_of(name, record).number().value();
  for (const std::string& name : expanded({"shares"}))
    shares += cell_of(name, record).number().value();
  EXPECT_EQ(seconds, 4);
  EXPECT_EQ(shares, 1);
  EXPECT_EQ(expanded({"a", "split", "b"}).size(), 10);
}

TEST(Columns, KnowTheirNames) {
  constexpr std::array<std::string_view, 1> kMetrics{"tpot_s"};
  for (const char* name :
       {"tpot_s", "split", "shares", "split.kv", "share.link_wait", "bounded_by", "screening_roof"})
    EXPECT_TRUE(is_study_column(name, kMetrics)) << name;
  for (const char* name : {"tpot", "split.none", "share", "step_time_s"})
    EXPECT_FALSE(is_study_column(name, kMetrics)) << name;
}

// 2 GB of HBM at 1000 GB/s or of the pool at 10 GB/s, the slower of its link and its bus.
RunRecord screening_record(double near, double far) {
  RunRecord r = testing::step_record(1, 0);
  r.config = R"({"placement": {"near": "hbm", "far": "pool"}, "system": {"tiers":
      {"hbm": {"memory": {}}, "pool": {"memory": {}, "path": ["pcie"]}}}})";
  r.metrics["screening_flops"] = {4e9, "FLOP"};
  r.metrics["screening_near_bytes"] = {near, "B"};
  r.metrics["screening_far_bytes"] = {far, "B"};
  r.metrics["screening_time_s"] = {0.5, "s"};
  r.channel_bytes = {{"hbm.bus", 100'000'000'000}, {"hbm.write", 1},
                     {"pool.bus", 1'000'000'000},  {"pcie.to_gpu", 1'000'000'000},
                     {"pcie.from_gpu", 1000},      {"sm.to_gpu", 0}};
  r.channel_utilisation = {{"hbm.bus", 0.1},     {"hbm.write", 1.0},     {"pool.bus", 0.02},
                           {"pcie.to_gpu", 0.1}, {"pcie.from_gpu", 0.5}, {"sm.to_gpu", 0.0}};
  return r;
}

TEST(ScreeningRoof, IsTheWayThatTakesLonger) {
  const RunRecord far = screening_record(2e9, 2e9);
  EXPECT_EQ(cell_of("screening_roof", far).exact(), "pool");
  EXPECT_DOUBLE_EQ(cell_of("screening_roof_bandwidth", far).number().value(), 10e9);
  EXPECT_DOUBLE_EQ(cell_of("screening_intensity", far).number().value(), 2);
  EXPECT_DOUBLE_EQ(cell_of("screening_attainable", far).number().value(), 20e9);
  EXPECT_DOUBLE_EQ(cell_of("screening_rate", far).number().value(), 8e9);
  const RunRecord near = screening_record(2e9, 0);
  EXPECT_EQ(cell_of("screening_roof", near).exact(), "hbm");
  EXPECT_DOUBLE_EQ(cell_of("screening_roof_bandwidth", near).number().value(), 1000e9);
  EXPECT_DOUBLE_EQ(cell_of("screening_attainable", near).number().value(), 2000e9);
}

TEST(ScreeningRoof, AMethodThatDoesNotScreenHasNone) {
  RunRecord record = screening_record(0, 0);
  record.metrics["screening_flops"].value = 0;
  for (const char* name : {"screening_roof", "screening_attainable", "screening_rate"})
    EXPECT_EQ(cell_of(name, record), Cell()) << name;
}

SolveResult solve_result(const std::string& outcome) {
  SolveResult result;
  result.question = {.title = "Which", .vary = "a.b", .between = {"1", "9"}, .metric = "tpot_s"};
  result.answers = {{.outcome = outcome,
                     .value = "3.5",
                     .display = "3.5",
                     .target = 0.05,
                     .metric = 0.04,
                     .unit = "s",
                     .evaluations = 7}};
  RunRecord record;
  record.bounded_by = "hbm.bus";
  result.answers[0].record = std::make_shared<const RunRecord>(record);
  return result;
}

TEST(SolveResult, SaysWhatWasFoundInOneLine) {
  const SolveResult found = solve_result("found");
  EXPECT_EQ(sentence(found, found.answers[0]),
            "a.b = 3.5: tpot_s is 40 ms (asked: 50 ms), bounded by hbm.bus");
  const SolveResult beyond = solve_result("beyond");
  EXPECT_EQ(sentence(beyond, beyond.answers[0]),
            "no value in 1 to 9 does it: tpot_s is 40 ms at 3.5, bounded by hbm.bus");
  SolveResult server = solve_result("beyond");
  RunRecord served;
  served.serving.emplace();
  server.answers[0].record = std::make_shared<const RunRecord>(served);
  EXPECT_EQ(sentence(server, server.answers[0]),
            "no value in 1 to 9 does it, by its samples (ten a decade): tpot_s is 40 ms at 3.5");
  const SolveResult flat = solve_result("flat");
  EXPECT_EQ(sentence(flat, flat.answers[0]),
            "no value does it: tpot_s is 40 ms from 1 to 9, whatever a.b is; bounded by hbm.bus");
  EXPECT_EQ(testing::shown(table_of(found))[0],
            (std::vector<std::string>{"3.5", "40 ms", "50 ms", "7", "hbm.bus"}));
  EXPECT_EQ(testing::shown(table_of(beyond))[0][0], "all; at 3.5");  // 40 ms is not above 50 ms
  SolveResult above = solve_result("beyond");
  above.answers[0].metric = 0.06;
  EXPECT_EQ(testing::shown(table_of(above))[0][0], "none; at 3.5");
}

TEST(SolveResult, CsvHasTheNumbersUnrounded) {
  SolveResult found = solve_result("found");
  found.answers[0].metric = 0.04000000000000001;
  const Table table = table_of(found);
  EXPECT_EQ(testing::heads(table, TableForm::csv),
            (std::vector<std::string>{"variant", "outcome", "a.b", "tpot_s", "target", "next",
                                      "next_tpot_s", "bounded_by", "problem"}));
  EXPECT_EQ(testing::exact(table)[0],
            (std::vector<std::string>{"", "found", "3.5", "0.04000000000000001", "0.05", "", "",
                                      "hbm.bus", ""}));
}

TEST(SolveResult, OfWholeNumbersTheOneOnTheOtherSideIsShown) {
  SolveResult found = solve_result("found");
  found.answers[0].display = "4";
  found.answers[0].next = SolveAnswer::Next{"5", 0.0625};
  EXPECT_EQ(sentence(found, found.answers[0]),
            "a.b = 4: tpot_s is 40 ms (asked: 50 ms), bounded by hbm.bus; at 5: 62.5 ms");
  EXPECT_EQ(testing::shown(table_of(found))[0],
            (std::vector<std::string>{"4", "40 ms", "50 ms", "5: 62.5 ms", "7", "hbm.bus"}));
}

}  // namespace
}  // namespace tiersim::columns_test
