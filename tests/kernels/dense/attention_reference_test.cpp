#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/reference/attention.hpp"

namespace tiersim::kernels::reference::attention_reference_test {
namespace {

TEST(AttentionReference, WeighsValuesByTheSoftmaxOfScaledLogits) {
  // Logits 0 and 2 at scale log(3) / 2: weights 1/4 and 3/4.
  const std::vector<float> query = {1, 1};
  const std::vector<float> keys = {5, -5, 2, 0};
  const std::vector<float> values = {8, 4, 0, 8};
  const std::vector<double> out =
      attention(query.data(), {keys.data(), 2}, {values.data(), 2}, 2, 2, 2, std::log(3.0) / 2);
  EXPECT_NEAR(out[0], 2, 1e-12);
  EXPECT_NEAR(out[1], 7, 1e-12);
}

TEST(AttentionReference, ReadsValuesFromTheFrontOfLatentRows) {
  const std::vector<float> query = {0, 0, 0};
  const std::vector<float> rows = {1, 9, 9, 3, 9, 9};
  EXPECT_NEAR(attention(query.data(), {rows.data(), 3}, {rows.data(), 3}, 2, 3, 1, 1)[0], 2, 1e-12);
}

TEST(AttentionReference, GivesZerosForNoTokens) {
  const float query = 1;
  EXPECT_EQ(attention(&query, {nullptr, 1}, {nullptr, 1}, 0, 1, 1, 1)[0], 0);
}

}  // namespace
}  // namespace tiersim::kernels::reference::attention_reference_test
