#include "sim/sweep/metric_magnitude.hpp"

#include <gtest/gtest.h>

namespace tiersim::metric_magnitude_test {
namespace {

TEST(MetricMagnitude, HasTheDimensionOfItsUnit) {
  EXPECT_EQ(metric_magnitude("tpot_s", 0.5), (Magnitude{0.5, "s"}));
  EXPECT_EQ(metric_magnitude("throughput_tokens_per_s", 3), (Magnitude{3, ""}));
  EXPECT_EQ(metric_magnitude("kv_footprint_bytes", 3), (Magnitude{3, "B"}));
}

}  // namespace
}  // namespace tiersim::metric_magnitude_test
