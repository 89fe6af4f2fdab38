// The cases of config.txt: configurations with mistakes. tests/unit/config/sample_config.hpp says
// what they describe.
#include "tests/bad_configs/bad_files.hpp"
#include "tests/unit/config/sample_config.hpp"

namespace tiersim::bad_configs_test {
namespace {

const testing::BadFiles& files() {
  static const testing::BadFiles all("config");
  return all;
}

std::string told(const std::string& name) {
  return files().told<sample::Experiment>(name, "experiment");
}

class BadConfig : public ::testing::TestWithParam<std::string> {};

TEST_P(BadConfig, IsReportedInTheExpectedWords) {
  EXPECT_EQ(told(GetParam()), files().expected(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, BadConfig, ::testing::ValuesIn(files().names()),
                         [](const auto& test) { return test.param; });

TEST(BadConfigs, DifferFromAGoodOneByTheirMistakeOnly) {
  EXPECT_EQ(told("bases/good"), "");
}

TEST(BadConfigs, EightMistakesOfOneFileAreToldAtOnce) {
  const std::string text = files().expected("eight_mistakes");
  EXPECT_EQ(std::ranges::count(text, '\n'), 8);
}

}  // namespace
}  // namespace tiersim::bad_configs_test
