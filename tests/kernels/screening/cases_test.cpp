#include <gtest/gtest.h>

#include <set>

#include "kernels/cases/screening.hpp"
#include "tests/kernels/support/emulated_case.hpp"

namespace tiersim::kernels::cases_test {
namespace {

TEST(ScreeningCases, ToysAreRight) {
  CaseList cases;
  add_screening_cases(cases, Sizes::toy);
  for (const CaseEntry& entry : cases) {
    SCOPED_TRACE(entry.name);
    expect_right_under(entry.make, {});
  }
}

// 1.09 GB: 254 us at 4.3 TB/s. 168 MB and 84 MB: 39 and 19.5 us. 4.3 GB: 1007 us.
TEST(ScreeningCases, MoveTheBytesOfTheFloors) {
  CaseList cases;
  add_screening_cases(cases, Sizes::timed);
  std::set<std::string> names;
  for (const CaseEntry& entry : cases) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    const std::string name = entry.name.substr(entry.name.find('.') + 1);
    double floor_us = 0;
    if (name == "maple_screen.r32-u16.b128-h32-s8192-k2048") floor_us = 254;
    if (name == "topk.f32-i32.b128-h32-s8192-k2048") floor_us = 39;
    if (name == "topk.f16-u16.b128-h32-s8192-k2048") floor_us = 19.5;
    if (name == "selected_attention.fma-u16.b128-h32-s8192-k2048") floor_us = 1007;
    if (floor_us == 0) continue;
    const Work work = entry.make()->work();
    const double us = static_cast<double>(work.read_bytes + work.written_bytes) / 4.3e6;
    EXPECT_NEAR(us, floor_us, 0.005 * floor_us) << entry.name;
    names.insert("floor of " + entry.name);
  }
  EXPECT_EQ(names.size(), cases.size() + 4);  // every floor of the four was met by a case
}

}  // namespace
}  // namespace tiersim::kernels::cases_test
