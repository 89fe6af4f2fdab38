// Reading points one after the other gives what reading each by itself does, for shipped SPECs:
// also where files, methods and words change between them, and where points have mistakes.
#include "sim/sweep/point_reader.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/step/importers.hpp"
#include "sim/sweep/sweep_plan.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/test_length.hpp"

namespace tiersim::point_reader_test {
namespace {

void expect_same(PointReader& reader, const PointLoader& loader, const SpacePoint& point) {
  SCOPED_TRACE(point.position);
  const ReadPoint& again = reader.read(point.scenario, point.set);
  const ReadPoint whole = read_point(loader, point_of(point));
  EXPECT_EQ(again.id, whole.id);
  EXPECT_EQ(again.problem, whole.problem);
  EXPECT_EQ(configuration_json(again), configuration_json(whole));
  if (!whole.config || !std::holds_alternative<ScenarioConfig>(*whole.config)) return;
  // What the reader keeps between points changes no result.
  const PointOutcome repeated = evaluate(again, SweepReading::analytic, SweepKeep::results);
  const PointOutcome alone = evaluate(whole, SweepReading::analytic, SweepKeep::results);
  EXPECT_EQ(repeated.status, alone.status);
  EXPECT_EQ(repeated.problem, alone.problem);
  EXPECT_EQ(repeated.results, alone.results);
}

class ShippedSpec : public ::testing::TestWithParam<const char*> {};

TEST_P(ShippedSpec, HasTheSamePointsReadOneAfterTheOtherAndEachByItself) {
  const LoadOptions options{.config_root = testing::configs(), .importers = make_all_importers()};
  Diagnostics diagnostics;
  const auto plan =
      SweepPlan::make(testing::configs() / "sweeps" / GetParam(), options, diagnostics);
  ASSERT_TRUE(plan) << diagnostics.text();
  // Pairs of neighbours from all over the sweep.
  const std::int64_t pairs = testing::draws_of(30, 300);
  const std::int64_t step = std::max<std::int64_t>(2, plan->sweep().points.value_or(2) / pairs);
  PointReader reader(plan->loader());
  const auto problem = plan->space().for_each([&](const SpacePoint& point) {
    if (point.position % step < 2) expect_same(reader, plan->loader(), point);
    return true;
  });
  EXPECT_FALSE(problem.has_value());
}

INSTANTIATE_TEST_SUITE_P(All, ShippedSpec,
                         ::testing::Values("analytic_100k.yaml", "decode_1000.yaml",
                                           "kv_methods.yaml", "maple_pool.yaml",
                                           "sample_system.yaml", "serving_load.yaml",
                                           "tpla_ridge.yaml", "next_generation.yaml"));

// The calibrated kernels of the H200 have intervals; the step's time then has one, too.
TEST(PointReader, APointHasIntervalsWhereTheReadingIsAll) {
  PointLoader loader({.config_root = testing::configs(), .importers = make_all_importers()});
  const std::string file =
      (testing::configs() / "scenarios/methods/llama3_8b_dense_hbm.yaml").string();
  Diagnostics diagnostics;
  ASSERT_TRUE(loader.prepare({file}, diagnostics)) << diagnostics.text();
  PointReader reader(loader);
  const ReadPoint& point = reader.read(file, {"uncertainty.draws=20"});
  for (const SweepKeep keep : {SweepKeep::metrics, SweepKeep::results}) {
    const PointOutcome all = evaluate(point, SweepReading::all, keep);
    EXPECT_EQ(all.status, PointStatus::ok) << all.problem;
    EXPECT_NE(all.results.find("ci95"), std::string::npos);
    const PointOutcome times = evaluate(point, SweepReading::times, keep);
    EXPECT_EQ(times.results.find("ci95"), std::string::npos);
  }
}

TEST(PointReader, SaysWhatIsWrongWithAPointAndReadsThoseAfterIt) {
  PointLoader loader({.config_root = testing::configs(), .importers = make_all_importers()});
  const std::string file = (testing::configs() / "scenarios/tpla/deepseek_v3_tpla.yaml").string();
  Diagnostics diagnostics;
  ASSERT_TRUE(loader.prepare({file}, diagnostics)) << diagnostics.text();
  PointReader reader(loader);
  std::size_t wrong = 0;
  for (const char* tensor : {"2", "3", "2", "3", "two", "2", "-2"})
    for (const char* context : {"1024", "2048", "0"}) {
      const SpacePoint point{.scenario = file,
                             .set = {std::string("parallel.tensor=") + tensor,
                                     std::string("step.context=") + context}};
      expect_same(reader, loader, point);
      wrong += reader.read(point.scenario, point.set).problem.empty() ? 0U : 1U;
    }
  EXPECT_EQ(wrong, 15U);  // all but two good contexts of each tensor=2, of which there are three
}

// Settings of the GPU, which points share while they differ in other numbers only.
TEST(PointReader, KeepsNoGpuWhoseNumbersDiffer) {
  PointLoader loader({.config_root = testing::configs(), .importers = make_all_importers()});
  const std::string file = (testing::configs() / "scenarios/maple/llama2_7b_maple.yaml").string();
  Diagnostics diagnostics;
  ASSERT_TRUE(loader.prepare({file}, diagnostics)) << diagnostics.text();
  PointReader reader(loader);
  std::vector<std::string> results;
  for (const char* launch : {"1 us", "2 us", "400 us"}) {
    const SpacePoint point{.scenario = file,
                           .set = {std::string("system.gpu.launch.value=") + launch}};
    expect_same(reader, loader, point);
    results.push_back(
        evaluate(reader.read(point.scenario, point.set), SweepReading::analytic, SweepKeep::results)
            .results);
  }
  EXPECT_NE(results.front(), results.back());
}

TEST(PointReader, TakesTheLastOfSettingsOfOneValue) {
  PointLoader loader({.config_root = testing::configs(), .importers = make_all_importers()});
  const std::string file = (testing::configs() / "scenarios/maple/llama2_7b_maple.yaml").string();
  Diagnostics diagnostics;
  ASSERT_TRUE(loader.prepare({file}, diagnostics)) << diagnostics.text();
  PointReader reader(loader);
  for (const auto& [first, second] : {std::pair{"4", "4"}, {"4", "8"}, {"8", "4"}, {"2", "8"}})
    expect_same(reader, loader,
                {.scenario = file,
                 .set = {std::string("step.batch=") + first, std::string("step.batch=") + second}});
}

TEST(IsNumberText, LeavesToYamlWhatItMayTakeForSomethingElse) {
  for (const char* text : {"0", "-1.5e-3", "4800 GB/s", "64 KiB"})
    EXPECT_TRUE(is_number_text(text));
  for (const char* text : {"", "-", "~", "null", "a", "1: 2", "1 #", "1  2", "1 ", "'1'", "[1]"})
    EXPECT_FALSE(is_number_text(text)) << text;
}

}  // namespace
}  // namespace tiersim::point_reader_test
