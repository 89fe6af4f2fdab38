// The cases of targets.txt: what a paper states, with mistakes in its curves and grids.
#include "reports/papers/reproduce/targets.hpp"
#include "tests/bad_configs/bad_files.hpp"

namespace tiersim::bad_targets_test {
namespace {

const testing::BadFiles& files() {
  static const testing::BadFiles all("targets");
  return all;
}

class BadTargets : public ::testing::TestWithParam<std::string> {};

TEST_P(BadTargets, AreReportedInTheExpectedWords) {
  const LoadOptions options{.config_root = testing::shipped_configs()};
  EXPECT_EQ(files().told<Targets>(GetParam(), "targets", options), files().expected(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, BadTargets, ::testing::ValuesIn(files().names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tiersim::bad_targets_test
