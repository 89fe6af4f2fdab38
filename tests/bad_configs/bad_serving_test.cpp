// The cases of serving.txt: shipped serving files, with mistakes on top.
#include "sim/serving/serving_config.hpp"
#include "sim/step/importers.hpp"
#include "tests/bad_configs/bad_files.hpp"

namespace tiersim::bad_serving_test {
namespace {

const testing::BadFiles& files() {
  static const testing::BadFiles all("serving");
  return all;
}

class BadServer : public ::testing::TestWithParam<std::string> {};

TEST_P(BadServer, IsReportedInTheExpectedWords) {
  const LoadOptions options{.config_root = testing::shipped_configs(),
                            .importers = make_all_importers()};
  const std::string told = files().told<ServingConfig>(GetParam(), "serving", options);
  EXPECT_EQ(testing::BadFiles::without(told, testing::shipped_configs()),
            files().expected(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, BadServer, ::testing::ValuesIn(files().names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tiersim::bad_serving_test
