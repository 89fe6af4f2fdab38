#include "sim/sweep/objectives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "tests/support/lattice_space.hpp"

namespace tiersim::objectives_test {
namespace {

using ::testing::ElementsAre;
using testing::LatticeSpace;

const std::string kScenario = "schema: tiersim.sweep/v1\nscenario: s.yaml\n";

struct Built {
  std::optional<ObjectiveSet> set;
  std::vector<std::string> mistakes;
};

// A space with the axes x0 and x1, each from 0 to 3.
Built built(const std::string& yaml) {
  Diagnostics diagnostics;
  const Document document = load_text(kScenario + yaml, "sweep.yaml", {}, diagnostics);
  SweepConfig config;
  // Read by hand: what else a SPEC needs is no matter here.
  if (const Entry* list = document.root().find("objectives"))
    for (const Node& item : list->value.items) {
      SweepObjective& objective = config.objectives.emplace_back();
      (item.entries[0].key == "maximize" ? objective.maximize : objective.minimize) =
          item.entries[0].value.scalar;
    }
  if (const Entry* list = document.root().find("subject_to"))
    for (const Node& item : list->value.items) config.subject_to.push_back(item.scalar);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  const LatticeSpace space({{4, 4}});
  Built out{.set = ObjectiveSet::build(config, space, document, diagnostics), .mistakes = {}};
  for (const Diagnostic& diagnostic : diagnostics.list()) out.mistakes.push_back(diagnostic.text());
  return out;
}

SpacePoint at(int x0, int x1) {
  return {.labels = {std::to_string(x0), std::to_string(x1)}};
}

TEST(ObjectiveSet, ShortNamesAreThoseOfMetrics) {
  const Built b = built("objectives: [{maximize: throughput}, {minimize: kv_footprint_bytes}]\n");
  ASSERT_TRUE(b.set) << b.mistakes[0];
  EXPECT_EQ(b.set->objectives()[0].metric, "throughput_tokens_per_s");
  EXPECT_EQ(b.set->objectives()[1].metric, "kv_footprint_bytes");
  EXPECT_THAT(b.set->directions(), ElementsAre(Sense::maximize, Sense::minimize));
}

TEST(ObjectiveSet, EveryMistakeIsReportedAtItsPlace) {
  const Built b = built(
      "objectives: [{maximize: thruput}, {minimize: tpot}, {maximize: tpot_s}]\n"
      "subject_to:\n"
      "  - \"tpot < 200 ms and x2 < 3\"\n"
      "  - tpot < 4 GB\n"
      "  - tpot + 1 s\n"
      "  - \"tpot << 3\"\n");
  EXPECT_FALSE(b.set);
  ASSERT_EQ(b.mistakes.size(), 6U) << ::testing::PrintToString(b.mistakes);
  EXPECT_TRUE(b.mistakes[0].starts_with("sweep.yaml:3:15: error: objectives.0.maximize: "));
  EXPECT_TRUE(
      b.mistakes[1].starts_with("sweep.yaml:3:54: error: objectives.2.maximize: 'tpot_s' is "
                                "an objective twice"));
  // Within the quotes.
  EXPECT_TRUE(
      b.mistakes[2].starts_with("sweep.yaml:5:24: error: subject_to.0: 'x2' is no axis and "
                                "no metric (did you mean 'x0'?)"));
  EXPECT_TRUE(b.mistakes[3].starts_with("sweep.yaml:6:"));
  EXPECT_TRUE(b.mistakes[4].starts_with(
      "sweep.yaml:7:5: error: subject_to.2: this is a duration, not a condition"))
      << b.mistakes[4];
  EXPECT_TRUE(b.mistakes[5].starts_with("sweep.yaml:8:"));
}

TEST(ObjectiveSet, ViolationIsHowFarAConditionIsFromHolding) {
  const Built b = built(
      "objectives: [{minimize: tpot}]\n"
      "subject_to: [\"tpot <= 200 ms and x0 + x1 < 4\", \"x0 == 1 or x1 == 1\"]\n");
  ASSERT_TRUE(b.set) << b.mistakes[0];
  const ObjectiveSet::Metrics fast{{"tpot_s", {.value = 0.1, .unit = "s"}}};
  const ObjectiveSet::Metrics slow{{"tpot_s", {.value = 0.4, .unit = "s"}}};
  EXPECT_EQ(b.set->violation(at(1, 1), fast), 0);
  EXPECT_EQ(b.set->violation(at(1, 1), slow), 0.5);                // (0.4 - 0.2) / 0.4
  EXPECT_EQ(b.set->violation(at(1, 1), {}), 1);                    // no such metric
  EXPECT_EQ(b.set->violation(at(2, 3), fast), (5.0 - 4) / 5 + 1);  // and neither is 1
  EXPECT_NEAR(b.set->violation(at(1, 3), fast), 0, 1e-11);         // 4 < 4, by as little as can be
  EXPECT_GT(b.set->violation(at(1, 3), fast), 0);
}

// Only a name alone beside a constant is a limit that a figure can draw.
TEST(Constraint, NamesTheConstantThatAMetricIsComparedWith) {
  const auto limit = [](const char* text, const char* metric) {
    const auto constraint = Constraint::parse(text);
    EXPECT_TRUE(constraint) << text;
    const auto found = constraint->limit_of(metric);
    return found ? found->value : -1;
  };
  EXPECT_EQ(limit("tpot <= 200 ms", "tpot_s"), 0.2);
  EXPECT_EQ(limit("x0 < 4 and 2 * 1 s > ttft.p99", "ttft_s.p99"), 2);
  EXPECT_EQ(limit("tpot <= 200 ms", "ttft_s.p99"), -1);
  EXPECT_EQ(limit("2 * tpot <= 200 ms", "tpot_s"), -1);
  EXPECT_EQ(limit("tpot <= x0 * 1 ms", "tpot_s"), -1);
  EXPECT_EQ(limit("tpot < 1 s or x0 == 1", "tpot_s"), -1);
}

TEST(ObjectiveSet, ARecordWithoutAnObjectiveHasNoValues) {
  const Built b = built("objectives: [{minimize: tpot}, {maximize: throughput}]\n");
  ASSERT_TRUE(b.set);
  EXPECT_TRUE(b.set->result_of(at(0, 0), {{"tpot_s", {.value = 1, .unit = "s"}}}).values.empty());
  const SearchResult both =
      b.set->result_of(at(0, 0), {{"tpot_s", {.value = 1, .unit = "s"}},
                                  {"throughput_tokens_per_s", {.value = 7, .unit = "tokens/s"}}});
  EXPECT_THAT(both.values, ElementsAre(1, 7));
  EXPECT_EQ(both.violation, 0);
}

}  // namespace
}  // namespace tiersim::objectives_test
