// The floors in the summary are those of the cases that the campaign times.
#include "kernels/campaign/goals.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/cases/all_cases.hpp"

namespace tiersim::kernels::bench::goals_test {
namespace {

// Stated floors have two or three figures. Cases also read queries and lengths and write partial
// results, which is under 3 % of their bytes.
TEST(Goals, FloorsFollowFromTheWorkOfTheirCases) {
  const CaseList cases = all_cases(Sizes::timed);
  for (const Goal& goal : kGoals) {
    const auto found = std::find_if(cases.begin(), cases.end(), [&](const CaseEntry& entry) {
      return entry.name == goal.name;
    });
    ASSERT_NE(found, cases.end()) << goal.name;
    const Work work = found->make()->work();
    const double bytes_us =
        static_cast<double>(work.read_bytes + work.written_bytes) / kFloorBytesPerS * 1e6;
    const double flops_us = static_cast<double>(work.flops) / kFloorFlops * 1e6;
    EXPECT_NEAR(std::max(bytes_us, flops_us) / goal.floor_us, 1.0, 0.03) << goal.name;
  }
}

TEST(Goals, AreFoundByTheWholeNameOnly) {
  EXPECT_EQ(goal_of("screening.topk.f32-i32.b128-h32-s8192-k2048/warm")->floor_us, 39);
  EXPECT_EQ(goal_of("early_exit.lm_head.rows128.t5-base-b16"), nullptr);
  EXPECT_EQ(goal_of("early_exit.lm_head.rows128.t5-base-b1")->floor_us, 11.5);
}

}  // namespace
}  // namespace tiersim::kernels::bench::goals_test
