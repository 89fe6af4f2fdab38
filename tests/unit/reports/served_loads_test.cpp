// A published table of two servers under load beside invented runs, against arithmetic by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/papers/served_loads/served_loads.hpp"
#include "tests/unit/reports/table_texts.hpp"

namespace tiersim::served_loads_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two loads and two cells: the first is 10 and 20 % off, the second meets all.
ServedLoadResults results() {
  ServedLoadResults out{
      .targets = {.id = "x",
                  .where = "W",
                  .near = 0.15,
                  .near_first = 0.05,
                  .servers = {{.label = "base"}, {.label = "far"}},
                  .loads = {{.users = 1, .tokens_per_s = {100, 80}, .running = {1, 1}},
                            {.users = 8, .tokens_per_s = {200, 400}, .running = {2, 8}}},
                  .cells = {{.label = "nominal"}, {.label = "other"}},
                  .seats = SeatTargets{.printed = {2, 8},
                                       .rooms = {{.label = "small"}, {.label = "large"}}}},
      .runs = {{.running = 1, .tokens_per_s = 110},
               {.running = 1, .tokens_per_s = 88},
               {.running = 2, .tokens_per_s = 200},
               {.running = 8, .tokens_per_s = 480},
               {.running = 1, .tokens_per_s = 100},
               {.running = 1, .tokens_per_s = 80},
               {.running = 2, .tokens_per_s = 200},
               {.running = 8, .tokens_per_s = 400}},
      .seats = {2, 6, 4, 12}};
  return out;
}

TargetResult result(const ReportSection& section, const std::string& id) {
  const auto at = std::ranges::find(section.results, id, &TargetResult::id);
  EXPECT_NE(at, section.results.end()) << id;
  return at == section.results.end() ? TargetResult{} : *at;
}

TEST(ServedLoads, ANearNominalCellIsAPrediction) {
  const ReportSection section = section_of(results());
  const TargetResult rate = result(section, "x.tokens_per_s.base.1");
  EXPECT_EQ(rate.status, "prediction");
  EXPECT_EQ(rate.paper, 100);
  EXPECT_EQ(rate.simulated, 110);
  EXPECT_EQ(rate.tolerance, 15);
  EXPECT_EQ(rate.why,
            "+10.0 % in the nominal cell; closest of 2 declared: 'other' gives 100 (+0.0 %)");
  EXPECT_EQ(result(section, "x.ratio.far.1").status, "prediction");
  EXPECT_DOUBLE_EQ(result(section, "x.ratio.far.1").tolerance, 0.05 * 0.8);
}

TEST(ServedLoads, WhatOnlyAnotherDeclaredCellGivesIsExplained) {
  const ReportSection section = section_of(results());
  EXPECT_EQ(result(section, "x.tokens_per_s.far.8").status, "explained");
  EXPECT_EQ(result(section, "x.ratio.far.8").status, "explained");
}

TEST(ServedLoads, WhatNoDeclaredCellGivesIsUnexplained) {
  ServedLoadResults off = results();
  off.runs[7].tokens_per_s = 500;
  const TargetResult rate = result(section_of(off), "x.tokens_per_s.far.8");
  EXPECT_EQ(rate.status, "unexplained");
  EXPECT_EQ(rate.simulated, 480);
  EXPECT_THAT(rate.why, HasSubstr("'nominal' gives 480 (+20.0 %)"));
}

// The small room holds two of the first server, and six of the eight of the other one.
TEST(ServedLoads, SeatsAreHeldAgainstTheClosestRoom) {
  const ReportSection section = section_of(results());
  EXPECT_EQ(result(section, "x.seats.base").status, "explained");
  EXPECT_EQ(result(section, "x.seats.base").simulated, 2);
  EXPECT_EQ(result(section, "x.seats.far").status, "unexplained");
  EXPECT_EQ(result(section, "x.seats.far").simulated, 6);
  EXPECT_EQ(result(section, "x.seats.in_one_room").status, "unexplained");
  ServedLoadResults enough = results();
  enough.seats[1] = 9;  // more than are printed of it
  EXPECT_EQ(result(section_of(enough), "x.seats.in_one_room").status, "explained");
  EXPECT_THAT(result(section_of(enough), "x.seats.in_one_room").why, HasSubstr("'small'"));
}

TEST(ServedLoads, NothingIsATargetThatCanBeMissed) {
  for (const TargetResult& one : section_of(results()).results) {
    EXPECT_NE(one.status, "pass") << one.id;
    EXPECT_NE(one.status, "fail") << one.id;
  }
}

TEST(ServedLoads, TheTableHasRatesErrorsAndRatios) {
  const Table table = testing::section_table(section_of(results()), "loads");
  EXPECT_THAT(testing::shown(table),
              ElementsAre(ElementsAre("1", "1", "100.0", "110.0", "+10.0 %", "1", "80.0", "88.0",
                                      "+10.0 %", "0.800", "0.800", "+0.0 %", "prediction"),
                          ElementsAre("8", "2", "200.0", "200.0", "+0.0 %", "8", "400.0", "480.0",
                                      "+20.0 %", "2.000", "2.400", "+20.0 %", "explained")));
}

// Ratios of 0.8 and 2.4 are simulated; 0.75 and 3 are printed, of loads that have names.
ServedLoadResults of_ratios() {
  ServedLoadResults out = results();
  out.targets.loads = {{.users = 1, .ratios = {0.75}, .label = "32K"},
                       {.users = 8, .ratios = {3}, .label = "128K"}};
  out.targets.seats.reset();
  out.targets.simulated_by_its_authors = true;
  return out;
}

TEST(ServedLoads, WithoutPrintedRatesOnlyRatiosAreTargets) {
  const ReportSection section = section_of(of_ratios());
  ASSERT_EQ(section.results.size(), 2);
  EXPECT_EQ(section.results[0].id, "x.ratio.far.32K");
  EXPECT_EQ(section.results[0].paper, 0.75);
  EXPECT_EQ(section.results[0].simulated, 0.8);
  EXPECT_EQ(section.results[0].status, "unexplained");  // 6.7 % off at the first load
  EXPECT_EQ(section.results[1].status, "unexplained");  // 2.4 and 2
  EXPECT_TRUE(section.figures.empty());
}

TEST(ServedLoads, WithoutPrintedRatesTheTableHasSimulatedOnes) {
  const Table table = testing::section_table(section_of(of_ratios()), "loads");
  EXPECT_THAT(testing::shown(table),
              ElementsAre(ElementsAre("32K", "1", "110.0", "1", "88.0", "0.750", "0.800", "+6.7 %",
                                      "unexplained"),
                          ElementsAre("128K", "2", "200.0", "8", "480.0", "3.000", "2.400",
                                      "-20.0 %", "unexplained")));
  EXPECT_THAT(table.notes, Contains(HasSubstr("simulated by their authors")));
}

TEST(ServedLoads, ColumnsForProgramsNameTheirServer) {
  const Table table = testing::section_table(section_of(results()), "loads");
  EXPECT_THAT(
      testing::heads(table, TableForm::csv),
      ElementsAre("users", "base running", "base printed", "base simulated", "base error",
                  "far running", "far printed", "far simulated", "far error", "far / base printed",
                  "far / base simulated", "far / base error", "what it is"));
}

TEST(ServedLoads, ProgramsGetEveryCellAndRoom) {
  const auto json = nlohmann::json::parse(section_of(results()).json);
  ASSERT_EQ(json["cells"].size(), 8);
  EXPECT_EQ(json["cells"][3]["server"], "far");
  EXPECT_EQ(json["cells"][3]["users"], 8);
  EXPECT_EQ(json["cells"][3]["ratio"], 2.4);
  ASSERT_EQ(json["seats"].size(), 4);
  EXPECT_EQ(json["seats"][1]["sequences"], 6);
}

}  // namespace
}  // namespace tiersim::served_loads_test
