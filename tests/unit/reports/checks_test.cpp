// Each kind of check passes where it should and fails where it should.
#include <gtest/gtest.h>

#include "tests/unit/reports/study_records.hpp"

namespace tiersim::checks_test {
namespace {

TargetResult check(StudyResult result, StudyCheck of) {
  of.id = "paper.figure.check";
  of.says = "what it says";
  result.study.checks = {std::move(of)};
  return checked(result).at(0);
}

const StudyCheck kLinear{.test = CheckTest::linear, .sum = {"split.kv"}, .tolerance = 1e-6};
const StudyCheck kRises{.test = CheckTest::rises, .sum = {"split.kv"}, .over = "step_time_s"};
const StudyCheck kLargest{.test = CheckTest::largest, .sum = {"split.kv"}};

TEST(Checks, AShapeThatHolds) {
  for (const StudyCheck& of : {kLinear, kRises, kLargest}) {
    const TargetResult result = check(testing::linear_study(), of);
    EXPECT_EQ(result.status, "shape") << result.why;
    EXPECT_EQ(result.simulated, 0);
    EXPECT_EQ(result.reading, "first_principles");
  }
}

// Line from (1, 1) to (4, 4); 2.3 at 2 is 0.3 off, of a range of 3.
TEST(Checks, LinearMeasuresTheDistanceFromTheLineThroughTheEnds) {
  StudyResult result = testing::linear_study();
  result.rows[1] = testing::row({"2"}, testing::step_record(1, 2.3));
  const TargetResult found = check(result, kLinear);
  EXPECT_EQ(found.status, "fail");
  EXPECT_NEAR(found.simulated, 0.1, 1e-12);
  StudyCheck loose = kLinear;
  loose.tolerance = 0.11;
  EXPECT_EQ(check(result, loose).status, "shape");
}

TEST(Checks, LinearNeedsThreePointsAndAChange) {
  StudyResult result = testing::linear_study();
  result.rows.pop_back();
  EXPECT_NE(check(result, kLinear).why.find("fewer than three"), std::string::npos);
  result = testing::linear_study();
  for (StudyRow& row : result.rows)
    row.record = std::make_shared<const RunRecord>(testing::step_record(1, 1));
  EXPECT_EQ(check(result, kLinear).status, "fail");
}

TEST(Checks, RisesCountsThePointsThatDoNot) {
  StudyResult result = testing::linear_study();
  result.rows[2] = testing::row({"4"}, testing::step_record(2, 4));  // the share of kv stays 2/3
  const TargetResult found = check(result, kRises);
  EXPECT_EQ(found.status, "fail");
  EXPECT_EQ(found.simulated, 1);
}

TEST(Checks, LargestLooksAtTheLastPoint) {
  StudyResult result = testing::linear_study();
  result.rows[0] = testing::row({"1"}, testing::step_record(9, 1));
  EXPECT_EQ(check(result, kLargest).status, "shape");
  result.rows[2] = testing::row({"4"}, testing::step_record(9, 4));
  EXPECT_EQ(check(result, kLargest).status, "fail");
}

TEST(Checks, EqualsAndAtMostLookAtTheWorstPoint) {
  const StudyCheck equals{.test = CheckTest::equals, .sum = {"split.weights"}, .value = 1};
  StudyResult result = testing::linear_study();
  EXPECT_EQ(check(result, equals).status, "shape");
  result.rows[1] = testing::row({"2"}, testing::step_record(1.5, 2));
  EXPECT_EQ(check(result, equals).status, "fail");
  EXPECT_EQ(check(result, equals).simulated, 1.5);
  StudyCheck at_most = equals;
  at_most.test = CheckTest::at_most;
  EXPECT_EQ(check(result, at_most).status, "fail");
  at_most.value = 1.5;
  EXPECT_EQ(check(result, at_most).status, "shape");
}

TEST(Checks, IsComparesText) {
  const StudyCheck is{.test = CheckTest::is, .sum = {"bounded_by"}, .text = "hbm.bus"};
  StudyResult result = testing::linear_study();
  EXPECT_EQ(check(result, is).status, "shape");
  RunRecord other = testing::step_record(1, 2);
  other.bounded_by = "pcie.to_gpu";
  result.rows[1] = testing::row({"2"}, other);
  EXPECT_EQ(check(result, is).status, "fail");
  EXPECT_EQ(check(result, is).simulated, 1);
}

TEST(Checks, RowsChooseThePoints) {
  StudyResult result = testing::linear_study();
  result.rows[1] = testing::row({"2"}, testing::step_record(1.5, 2));
  StudyCheck equals{.test = CheckTest::equals, .sum = {"split.weights"}, .value = 1.5};
  equals.rows = {{"context", "2"}};
  EXPECT_EQ(check(result, equals).status, "shape");
  equals.rows = {{"context", "3"}};
  EXPECT_NE(check(result, equals).why.find("no point of it ran"), std::string::npos);
}

TEST(Checks, NothingToLookAtIsAFailure) {
  StudyResult result = testing::linear_study();
  for (StudyRow& row : result.rows) row = testing::row_without(row.point.labels, "does not fit");
  for (const StudyCheck& of : {kLinear, kRises, kLargest})
    EXPECT_EQ(check(result, of).status, "fail");
  const StudyCheck none{.test = CheckTest::equals, .sum = {"energy_j_per_token"}};
  EXPECT_EQ(check(testing::linear_study(), none).status, "fail");
}

}  // namespace
}  // namespace tiersim::checks_test
