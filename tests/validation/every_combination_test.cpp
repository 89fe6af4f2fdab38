// Every shipped system with every shipped method and model: it runs with all invariants met, or
// gives one line with the reason why it cannot. In ci every fifth of them, chosen so that each two
// of a system, a method and a model meet; at night all.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/invariants.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/test_length.hpp"

namespace tiersim::every_combination_test {
namespace {

class EveryCombination : public ::testing::TestWithParam<std::string> {};

void expect_one_line(const std::string& text, const std::string& what) {
  EXPECT_FALSE(text.empty()) << what;
  EXPECT_EQ(text.find('\n'), std::string::npos) << what << ": " << text;
}

enum class Outcome : std::uint8_t { ran, too_large, mismatch };

// A method's settings may not suit a model (a rank that is no whole number): one line, no run.
Outcome run(const std::string& scenario, const std::vector<std::string>& set) {
  const std::string what = ::testing::PrintToString(set) + " on " + scenario;
  Diagnostics diagnostics;
  const auto config = testing::try_scenario(scenario, set, diagnostics);
  if (!diagnostics.ok()) {
    EXPECT_EQ(diagnostics.list().size(), 1U) << what << ": " << diagnostics.list().front().text();
    expect_one_line(diagnostics.list().front().text(), what);
    EXPECT_TRUE(testing::is_a_mismatch(diagnostics.list().front().text()))
        << diagnostics.list().front().text();
    return Outcome::mismatch;
  }
  // No invariant looks at configuration, run id and sources, whose texts take half of the time.
  const auto sim = simulate(config, Evaluation::times, Provenance::classes);
  if (!sim) {
    expect_one_line(sim.error(), what);
    EXPECT_NE(sim.error().find("are needed"), std::string::npos) << sim.error();
    return Outcome::too_large;
  }
  for (const std::string& broken : testing::broken_invariants(*sim))
    ADD_FAILURE() << broken << "\n" << what;
  return Outcome::ran;
}

// The three positions add up to a multiple of 19: any two of them leave a choice of the third.
bool is_of_this_run(std::ptrdiff_t system, std::size_t model, std::size_t scenario) {
  constexpr std::size_t kStride = 19;
  return testing::is_nightly() ||
         (static_cast<std::size_t>(system) + model + scenario) % kStride == 0;
}

TEST_P(EveryCombination, RunsOrSaysInOneLineWhyNot) {
  const std::vector<std::string> systems = testing::shipped("systems");
  const std::vector<std::string> models = testing::shipped("models");
  const std::vector<std::string> scenarios = testing::shipped("scenarios/methods");
  const auto system = std::ranges::find(systems, GetParam()) - systems.begin();
  std::map<Outcome, std::size_t> count;
  for (std::size_t m = 0; m < models.size(); ++m)
    for (std::size_t s = 0; s < scenarios.size(); ++s) {
      if (!is_of_this_run(system, m, s)) continue;
      const bool encoder = models[m].find("t5_") != std::string::npos;
      ++count[run(scenarios[s], {"system.base=" + GetParam(), "model.base=" + models[m],
                                 "step.batch=2", "step.context=4096",
                                 std::string("step.encoder_context=") + (encoder ? "512" : "0")})];
    }
  // A card of 24 GB holds few of the models.
  EXPECT_GT(count[Outcome::ran], 0U);
  EXPECT_GT(count[Outcome::ran] + count[Outcome::too_large], count[Outcome::mismatch]);
}

INSTANTIATE_TEST_SUITE_P(Systems, EveryCombination,
                         ::testing::ValuesIn(testing::shipped("systems")),
                         [](const auto& instance) { return testing::test_name(instance.param); });

}  // namespace
}  // namespace tiersim::every_combination_test
