// The cases of parallel.txt: a shipped scenario of GPUs that share a model, with mistakes in how.
#include "sim/step/importers.hpp"
#include "sim/step/scenario.hpp"
#include "tests/bad_configs/bad_files.hpp"

namespace tiersim::bad_parallel_test {
namespace {

const testing::BadFiles& files() {
  static const testing::BadFiles all("parallel");
  return all;
}

class BadSharing : public ::testing::TestWithParam<std::string> {};

TEST_P(BadSharing, IsReportedInTheExpectedWords) {
  const LoadOptions options{.config_root = testing::shipped_configs(),
                            .importers = make_all_importers()};
  EXPECT_EQ(files().told<ScenarioConfig>(GetParam(), "scenario", options),
            files().expected(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, BadSharing, ::testing::ValuesIn(files().names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tiersim::bad_parallel_test
