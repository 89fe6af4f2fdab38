// The cases of models.txt: models as a user writes or imports them.
#include "tests/bad_configs/bad_files.hpp"
#include "workloads/importers.hpp"
#include "workloads/llm/llm_config.hpp"

namespace tiersim::bad_models_test {
namespace {

const testing::BadFiles& files() {
  static const testing::BadFiles all("models");
  return all;
}

class BadModel : public ::testing::TestWithParam<std::string> {};

TEST_P(BadModel, IsReportedInTheExpectedWords) {
  EXPECT_EQ(files().told<LlmConfig>(GetParam(), "model", {.importers = make_importers()}),
            files().expected(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, BadModel, ::testing::ValuesIn(files().names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tiersim::bad_models_test
