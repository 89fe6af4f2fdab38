// The recall that `reproduce maple` draws beside speed is that of `tiersim numerics maple`, without
// the rest of that study.
#include <algorithm>

#include <gtest/gtest.h>

#include "sim/study/recall_run.hpp"
#include "workloads/numerics/maple_study.hpp"

namespace tiersim::recall_points_test {
namespace {

std::size_t column_of(const Table& table, std::string_view name) {
  const auto at = std::ranges::find(table.columns, name, &Column::title);
  EXPECT_NE(at, table.columns.end()) << name;
  return static_cast<std::size_t>(at - table.columns.begin());
}

TEST(RecallPoints, AreTheRowsOfTheStudyToTheLastBit) {
  const std::vector<RecallPoint> points = recall_points();
  // MAPLE and Quest at six budgets, four methods at one.
  EXPECT_EQ(points.size(), 2 * 6 + 4U);
  const numerics::Study study = numerics::maple_study(1);
  for (const RecallPoint& point : points) {
    SCOPED_TRACE(point.method + ' ' + point.setting);
    bool found = false;
    for (const Table& table : study.tables) {
      if (table.id != "selection_by_budget" && table.id != "selection_by_rank") continue;
      for (const Row& row : table.rows) {
        if (row[column_of(table, "method")].shown() != point.method ||
            row[column_of(table, "setting")].shown() != point.setting ||
            row[column_of(table, "share of rows")].number() != point.budget)
          continue;
        found = true;
        EXPECT_EQ(row[column_of(table, "recall")].number(), point.recall);
        EXPECT_EQ(row[column_of(table, "recall sd")].number(), point.deviation);
      }
    }
    EXPECT_TRUE(found);
  }
}

}  // namespace
}  // namespace tiersim::recall_points_test
