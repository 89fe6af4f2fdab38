// A range of an axis that the file's own check refuses is still a range that can be asked.
#include "sim/sweep/axis_range.hpp"

#include <gtest/gtest.h>

namespace tiersim::axis_range_test {
namespace {

TEST(AxisRange, OfFactorsNeedsAFactorOrANumberOfPoints) {
  const auto range = ValueRange::parse(SweepLogRange{.from = "1", .to = "4"}, false);
  ASSERT_FALSE(range.has_value());
  EXPECT_EQ(range.error().message, "is missing");
}

}  // namespace
}  // namespace tiersim::axis_range_test
