// The results of every shipped scenario against the ones kept in records/, byte for byte: a change
// that moves numbers is seen, and its commit explains them. TIERSIM_UPDATE_GOLDEN=1 rewrites the
// files.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "sim/step/simulate.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/test_length.hpp"

namespace tiersim::golden_test {
namespace {

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, ResultsAreThoseKept) {
  const auto path = std::filesystem::path(TIERSIM_SOURCE_DIR) / "tests/golden/records" /
                    (testing::test_name(GetParam()) + ".json");
  const auto result = simulate(testing::scenario(GetParam()), Evaluation::all);
  ASSERT_TRUE(result) << result.error();
  const std::string now = pretty_results(result->record);
  if (std::getenv("TIERSIM_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << now;
  std::ostringstream kept;
  kept << std::ifstream(path).rdbuf();
  EXPECT_EQ(now, kept.str())
      << "numbers moved; if they should, run with TIERSIM_UPDATE_GOLDEN=1 and "
         "say why in the commit";
}

INSTANTIATE_TEST_SUITE_P(Shipped, Golden,
                         ::testing::ValuesIn(testing::some_of(testing::shipped_scenarios())),
                         [](const auto& instance) { return testing::test_name(instance.param); });

}  // namespace
}  // namespace tiersim::golden_test
