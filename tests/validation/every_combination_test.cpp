// Every shipped system with every shipped method and model: it runs with all invariants met, or
// gives one line with the reason why it cannot.
#include <gtest/gtest.h>

#include "tests/support/invariants.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::every_combination_test {
namespace {

class EveryCombination : public ::testing::TestWithParam<std::string> {};

void expect_one_line(const std::string& text, const std::string& what) {
  EXPECT_FALSE(text.empty()) << what;
  EXPECT_EQ(text.find('\n'), std::string::npos) << what << ": " << text;
}

// A method's settings may not suit a model (a rank that is no whole number): one line, no run.
bool run(const std::string& scenario, const std::vector<std::string>& set) {
  const std::string what = ::testing::PrintToString(set) + " on " + scenario;
  Diagnostics diagnostics;
  const auto config = testing::try_scenario(scenario, set, diagnostics);
  if (!diagnostics.ok()) {
    EXPECT_EQ(diagnostics.list().size(), 1U) << what << ": " << diagnostics.list().front().text();
    expect_one_line(diagnostics.list().front().text(), what);
    EXPECT_TRUE(testing::is_a_mismatch(diagnostics.list().front().text()))
        << diagnostics.list().front().text();
    return false;
  }
  // No invariant looks at configuration, run id and sources, whose texts take half of the time.
  const auto sim = simulate(config, Evaluation::times, Provenance::classes);
  if (!sim) {
    expect_one_line(sim.error(), what);
    EXPECT_NE(sim.error().find("are needed"), std::string::npos) << sim.error();
    return false;
  }
  for (const std::string& broken : testing::broken_invariants(*sim))
    ADD_FAILURE() << broken << "\n" << what;
  return true;
}

TEST_P(EveryCombination, RunsOrSaysInOneLineWhyNot) {
  int ran = 0;
  int all = 0;
  for (const std::string& model : testing::shipped("models"))
    for (const std::string& scenario : testing::shipped("scenarios/methods")) {
      const bool encoder = model.find("t5_") != std::string::npos;
      ++all;
      ran += run(scenario, {"system.base=" + GetParam(), "model.base=" + model, "step.batch=2",
                            "step.context=4096",
                            std::string("step.encoder_context=") + (encoder ? "512" : "0")})
                 ? 1
                 : 0;
    }
  EXPECT_GT(ran, all / 3) << "of " << all;
}

INSTANTIATE_TEST_SUITE_P(Systems, EveryCombination,
                         ::testing::ValuesIn(testing::shipped("systems")),
                         [](const auto& instance) { return testing::test_name(instance.param); });

}  // namespace
}  // namespace tiersim::every_combination_test
