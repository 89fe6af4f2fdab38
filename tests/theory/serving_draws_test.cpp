// Intervals of numbers in the metrics of a served run.
#include "sim/serving/serve.hpp"
#include "tests/theory/serving_run.hpp"

namespace tiersim::serving_draws_test {
namespace {

using Settings = std::vector<std::string>;

RunRecord served(Settings set) {
  Settings all{"workload.requests=40", "measure.warm_up=0"};
  all.insert(all.end(), set.begin(), set.end());
  const auto record = serve(testing::serving_config("serving/llama2_7b_h100.yaml", all));
  EXPECT_TRUE(record) << record.error();
  return *record;
}

TEST(ServedDraws, GiveEveryTimeAnIntervalAroundItsValue) {
  const RunRecord plain = served({});
  const RunRecord drawn = served({"uncertainty={draws: 20}"});
  ASSERT_TRUE(drawn.draws);
  EXPECT_FALSE(plain.draws);
  EXPECT_EQ(drawn.draws->draws, 20);
  EXPECT_GT(drawn.draws->numbers, 2);
  for (const char* name : {"ttft_s.mean", "tpot_s.mean", "tpot_s.p99", "throughput_tokens_per_s"}) {
    const Metric& metric = drawn.metrics.at(name);
    EXPECT_EQ(metric.value, plain.metrics.at(name).value) << name;
    ASSERT_TRUE(metric.ci95) << name;
    EXPECT_LT(metric.ci95->low, metric.value) << name;
    EXPECT_GT(metric.ci95->high, metric.value) << name;
  }
}

TEST(ServedDraws, AreTheSameForTheSameSeed) {
  const auto interval = [](const RunRecord& record) {
    return *record.metrics.at("tpot_s.mean").ci95;
  };
  const auto first = interval(served({"uncertainty={draws: 20, seed: 3}"}));
  const auto again = interval(served({"uncertainty={draws: 20, seed: 3}"}));
  const auto other = interval(served({"uncertainty={draws: 20, seed: 4}"}));
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  EXPECT_NE(first.low, other.low);
}

// One number alone: a factor on the time of all products in a run of nothing else that varies.
TEST(ServedDraws, AWiderNumberGivesAWiderInterval) {
  const auto width = [](const std::string& ci95) {
    const RunRecord record =
        served({"system.gpu.calibration=none", "uncertainty={draws: 40}",
                "system.tiers.hbm.memory.peak={value: 3352 GB/s, class: assumed, "
                "source: a test, ci95: " +
                    ci95 + "}"});
    const auto& ends = *record.metrics.at("tpot_s.mean").ci95;
    return ends.high - ends.low;
  };
  const double narrow = width("[3300 GB/s, 3400 GB/s]");
  const double wide = width("[3000 GB/s, 3700 GB/s]");
  EXPECT_GT(narrow, 0);
  EXPECT_GT(wide, 5 * narrow);
  EXPECT_LT(wide, 10 * narrow);
}

TEST(ServedDraws, AreNotMadeWhereNoNumberHasAnInterval) {
  const RunRecord record =
      served({"system.gpu.calibration=none", "system.gpu.active_power=337 W",
              "system.gpu.energy_per_flop=0.77 pJ/FLOP", "uncertainty={draws: 20}"});
  EXPECT_FALSE(record.draws);
}

}  // namespace
}  // namespace tiersim::serving_draws_test
