// What a PointRunner asks of a function that runs points, what it keeps of their records, and base
// files that documents share.
#include "sim/runner/point_runner.hpp"

#include <gtest/gtest.h>

#include "sim/runner/load.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::point_runner_test {
namespace {

const std::filesystem::path kScenario =
    testing::configs() / "scenarios/methods/llama3_8b_maple.yaml";

LoadOptions options() {
  return {.config_root = testing::configs(), .importers = make_all_importers()};
}

TEST(PointRunner, AsksOnceForEachPointAndExtent) {
  int asked = 0;
  PointRunner runner(options(), Kept::results,
                     [&](const PointLoader&, const Point& point, Evaluation,
                         Kept kept) -> std::optional<Expected<RunRecord>> {
                       ++asked;
                       if (point.set.back() == "step.batch=2") return std::nullopt;
                       if (point.set.back() == "step.batch=3")
                         return Expected<RunRecord>(Unexpected(std::string("too large")));
                       RunRecord record;
                       record.name = kept == Kept::results ? "results" : "configuration";
                       return record;
                     });
  Diagnostics diagnostics;
  const Point one{kScenario, {"step.batch=1"}};
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(runner.run(one, Evaluation::accounting, diagnostics).record->name, "results");
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(runner.run(one, Evaluation::accounting, Kept::configuration, diagnostics).record->name,
            "configuration");
  EXPECT_EQ(asked, 2);
  // The runner itself runs a point that the function leaves to it.
  const auto two = runner.run({kScenario, {"step.batch=2"}}, Evaluation::accounting, diagnostics);
  EXPECT_EQ(two.record->batch, 2);
  EXPECT_EQ(runner.run({kScenario, {"step.batch=3"}}, Evaluation::accounting, diagnostics).problem,
            "too large");
  EXPECT_EQ(asked, 4);
  runner.run(one, Evaluation::accounting, Kept::all, diagnostics);  // its numbers need all of it
  EXPECT_EQ(asked, 4);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
}

TEST(PointRunner, KeepsOfARecordWhatIsAsked) {
  PointRunner runner(options());
  Diagnostics diagnostics;
  const Point point{kScenario, {"step.batch=2"}};
  const auto kept = [&](Kept what) {
    return *runner.run(point, Evaluation::times, what, diagnostics).record;
  };
  const RunRecord all = kept(Kept::all);
  RunRecord configuration = kept(Kept::configuration);
  const RunRecord results = kept(Kept::results);
  EXPECT_FALSE(all.numbers.empty());
  EXPECT_EQ(configuration.config, all.config);
  EXPECT_TRUE(configuration.numbers.empty());
  EXPECT_EQ(results.run_id, all.run_id);
  EXPECT_TRUE(results.config.empty());
  configuration.config.clear();
  EXPECT_EQ(to_json(results), to_json(configuration));
}

// Each base file is read once for all files that are loaded with the same BaseFiles.
TEST(SharedBases, AreReadOnce) {
  const auto bases = std::make_shared<BaseFiles>();
  const auto alone = load_scenario(kScenario, {"step.batch=2"});
  const auto first = load_scenario(kScenario, {"step.batch=2"}, bases);
  const std::string base =
      std::filesystem::canonical(testing::configs() / "bases/methods_32k.yaml").string();
  const auto kept = bases->find(base);
  ASSERT_NE(kept, nullptr);
  const auto again = load_scenario(kScenario, {"step.batch=2"}, bases);
  EXPECT_EQ(bases->find(base), kept);
  EXPECT_EQ(canonical_json(first.config), canonical_json(alone.config));
  EXPECT_EQ(canonical_json(again.config), canonical_json(alone.config));
}

}  // namespace
}  // namespace tiersim::point_runner_test
