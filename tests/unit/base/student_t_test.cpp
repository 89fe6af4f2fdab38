// Student's t against printed tables.
#include "sim/base/student_t.hpp"

#include <gtest/gtest.h>

namespace tiersim::student_t_test {
namespace {

// Values from tables with four decimals.
TEST(StudentT, AgreesWithTheTables) {
  EXPECT_NEAR(student_t_975(1), 12.706, 0.001);
  EXPECT_NEAR(student_t_975(9), 2.2622, 0.0022);
  EXPECT_NEAR(student_t_975(31), 2.0395, 0.001);
  EXPECT_NEAR(student_t_975(1000), 1.9623, 0.001);
}

}  // namespace
}  // namespace tiersim::student_t_test
