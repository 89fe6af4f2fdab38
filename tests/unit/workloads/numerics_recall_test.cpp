#include <gtest/gtest.h>

#include "workloads/numerics/recall_at_budget.hpp"

namespace tiersim::numerics::numerics_recall_test {
namespace {

// The four-digit output of `tiersim numerics maple` for the same settings (its tables "by budget"
// and "by rank"): ranks are 16 and 8 of 64 components.
TEST(RecallAtBudget, IsThatOfTheStudyAtTheSameSettings) {
  const auto answers =
      recall_at_budget({{.method = "maple", .share = 1.0 / 16, .rank_share = 1.0 / 4},
                        {.method = "sparq", .share = 1.0 / 16, .rank_share = 1.0 / 8},
                        {.method = "sparq", .share = 1.0 / 8, .rank_share = 1.0 / 4},
                        {.method = "loki", .share = 1.0 / 8, .rank_share = 1.0 / 4},
                        {.method = "quest", .share = 1.0 / 16, .page = 16},
                        {.method = "h2o", .share = 1.0 / 16},
                        {.method = "streaming_llm", .share = 1.0 / 16}},
                       1);
  const double printed[] = {0.3184, 0.6655, 0.8157, 0.6908, 0.2324, 0.3091, 0.2229};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ASSERT_TRUE(answers[i]) << i;
    EXPECT_NEAR(answers[i]->recall, printed[i], 0.00005) << i;
  }
  EXPECT_EQ(answers[0]->setting, "rank 16");
  EXPECT_NEAR(answers[0]->deviation, 0.04483, 0.000005);
}

TEST(RecallAtBudget, AsksNothingOfWhatTheHeadsCannotAnswer) {
  const auto answers = recall_at_budget({{.method = "dense", .share = 0.5},
                                         {.method = "loki", .share = 0.5, .rank_share = 0.01},
                                         {.method = "loki", .share = 0, .rank_share = 0.25},
                                         {.method = "maple", .share = 0.5, .rank_share = 2},
                                         {.method = "quest", .share = 0.5, .page = 0}},
                                        1);
  for (const auto& answer : answers) EXPECT_FALSE(answer);
}

}  // namespace
}  // namespace tiersim::numerics::numerics_recall_test
