// The plan of an iteration against Algorithm 1 computed in float64 (workloads/numerics).
#include <gtest/gtest.h>

#include "workloads/early_exit/exit_plan.hpp"
#include "workloads/numerics/early_exit_batch.hpp"
#include "workloads/numerics/early_exit_sample.hpp"

namespace tiersim::early_exit_algorithm_test {
namespace {

constexpr std::int64_t kLayers = 8;

TEST(ExitPlan, LeavesWhereAlgorithmOneDoes) {
  const auto sample = numerics::random_early_exit_sample(
      5, {.depth = 32, .heads = 2, .head = 16, .wide = 64, .vocabulary = 64, .layers = kLayers}, 48,
      24);
  std::vector<int> left_at(kLayers + 1);
  for (const double threshold : {0.2, 0.9, 0.97, 0.99, 0.9999})
    for (const std::size_t size : {1U, 3U, 8U}) {
      const numerics::ExitRule rule = sample.rule(numerics::Measure::state, threshold);
      for (std::size_t first = 0; first + size <= sample.tokens.size(); first += size) {
        std::vector<numerics::Sequence> batch;
        std::vector<numerics::RowVector> states;
        std::vector<std::int64_t> depths;
        for (std::size_t i = first; i < first + size; ++i) {
          batch.push_back(sample.tokens[i].before);
          states.push_back(sample.tokens[i].states.front());
          const auto alone = numerics::first_accepted(
              numerics::confidences(sample.decoder, rule, sample.tokens[i].states), threshold);
          depths.push_back(alone == 0 ? kLayers : alone);
        }
        const auto before = batch.front().self.front().keys.rows();
        const numerics::BatchStep step = numerics::step_batch(sample.decoder, rule, states, batch);
        const ExitPlan plan = plan_exits({.technique = ExitTechnique::state}, kLayers, depths);
        ASSERT_EQ(plan.depth, step.output_layer) << threshold << ' ' << size;
        ++left_at[static_cast<std::size_t>(plan.depth)];
        // Rows of each layer's cache that the step added, over the batch.
        std::vector<std::int64_t> had = plan.filled_at_end;
        for (const ExitLayer& at : plan.layers) had[static_cast<std::size_t>(at.layer)] += at.rows;
        for (std::size_t layer = 0; layer < kLayers; ++layer) {
          std::int64_t added = 0;
          for (const auto& sequence : batch) added += sequence.self[layer].keys.rows() - before;
          ASSERT_EQ(had[layer], added);
        }
      }
    }
  // The cases are not all the same.
  EXPECT_GT(std::count_if(left_at.begin(), left_at.end(), [](int n) { return n > 0; }), 4);
}

}  // namespace
}  // namespace tiersim::early_exit_algorithm_test
