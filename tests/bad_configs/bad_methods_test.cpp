// The cases of methods.txt: a shipped scenario with a mistake in its method.
#include "sim/step/importers.hpp"
#include "sim/step/scenario.hpp"
#include "tests/bad_configs/bad_files.hpp"

namespace tiersim::bad_methods_test {
namespace {

const testing::BadFiles& files() {
  static const testing::BadFiles all("methods");
  return all;
}

class BadMethod : public ::testing::TestWithParam<std::string> {};

TEST_P(BadMethod, IsReportedInTheExpectedWords) {
  const LoadOptions options{.config_root = testing::shipped_configs(),
                            .importers = make_all_importers()};
  EXPECT_EQ(files().told<ScenarioConfig>(GetParam(), "scenario", options),
            files().expected(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, BadMethod, ::testing::ValuesIn(files().names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tiersim::bad_methods_test
