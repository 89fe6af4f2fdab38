// The cases of timing_tables.txt: descriptions of tables of timings with mistakes.
#include "hwmodels/calibrate/table/timing_table_config.hpp"
#include "tests/bad_configs/bad_files.hpp"

namespace tiersim::bad_timing_tables_test {
namespace {

const testing::BadFiles& files() {
  static const testing::BadFiles all("timing_tables");
  return all;
}

class BadTimingTable : public ::testing::TestWithParam<std::string> {};

TEST_P(BadTimingTable, IsReportedInTheExpectedWords) {
  EXPECT_EQ(files().told<TimingTableConfig>(GetParam(), "timing_table"),
            files().expected(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, BadTimingTable, ::testing::ValuesIn(files().names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tiersim::bad_timing_tables_test
