// Intervals of a run's results, from those of its numbers.
#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "sim/step/simulate.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::intervals_test {
namespace {

using Settings = std::vector<std::string>;

constexpr const char* kDense = "scenarios/methods/llama3_8b_dense_hbm.yaml";
constexpr const char* kMaple = "scenarios/methods/llama3_8b_maple.yaml";

// Without timed kernels and fitted powers, which have intervals of their own.
RunRecord run(const char* scenario, Settings set, Evaluation readings = Evaluation::all) {
  set.insert(set.begin(), {"system.gpu.calibration=none", "system.gpu.active_power=337 W",
                           "system.gpu.energy_per_flop=0.77 pJ/FLOP"});
  const auto result = simulate(testing::scenario(scenario, set), readings);
  EXPECT_TRUE(result) << result.error();
  return result ? result->record : RunRecord{};
}

bool has_time(const std::string& metric) {
  const std::string& name = metric;
  for (const char* time : {"_s", "energy_j_per_token", "power_w.mean", "cost_usd_per_mtoken"})
    if (name.ends_with(time)) return true;
  return false;
}

double width(const Interval<double>& interval) {
  return interval.high - interval.low;
}

TEST(Intervals, OfOneNumberReachEveryTimeAndNothingElse) {
  const RunRecord record =
      run(kMaple, {"system.tiers.hbm.memory.read_efficiency.ci95=[0.9, 0.94]"});
  int times = 0;
  for (const auto& [name, metric] : record.metrics) {
    EXPECT_EQ(metric.ci95.has_value(), has_time(name)) << name;
    if (!metric.ci95) continue;
    ++times;
    EXPECT_LT(metric.ci95->low, metric.value) << name;
    EXPECT_GT(metric.ci95->high, metric.value) << name;
  }
  // Step, TPOT, bound, throughput, screening, energy, that of GPUs, power, cost.
  EXPECT_EQ(times, 9);
  for (const KernelTimeRecord& kernel : record.kernel_times) {
    ASSERT_TRUE(kernel.ci95) << kernel.family;
    EXPECT_LE(kernel.ci95->low, kernel.seconds);
    EXPECT_GE(kernel.ci95->high, kernel.seconds);
  }
  ASSERT_TRUE(record.draws);
  EXPECT_EQ(record.draws->draws, 180);
  EXPECT_EQ(record.draws->numbers, 1);
  const auto number = std::ranges::find(record.numbers, "system.tiers.hbm.memory.read_efficiency",
                                        &NumberRecord::path);
  ASSERT_NE(number, record.numbers.end());
  EXPECT_EQ(number->ci95, (Interval<std::string>{"0.9", "0.94"}));
}

// The second number has the same draws in both runs.
TEST(Intervals, OfAWiderNumberWidenEveryTime) {
  const std::string other = "system.tiers.hbm.memory.latency.ci95=[300 ns, 400 ns]";
  const RunRecord narrow =
      run(kMaple, {"system.tiers.hbm.memory.read_efficiency.ci95=[0.9, 0.94]", other});
  const RunRecord wide =
      run(kMaple, {"system.tiers.hbm.memory.read_efficiency.ci95=[0.8, 0.98]", other});
  for (const auto& [name, metric] : narrow.metrics) {
    if (!metric.ci95) continue;
    EXPECT_GT(width(*wide.metrics.at(name).ci95), width(*metric.ci95)) << name;
  }
}

// Without latency, launch and screening every operation of the step waits for HBM, so that the step
// takes its bytes over its bandwidth.
TEST(Intervals, OfWhatIsInverseToABandwidthAreThoseOfTheBandwidth) {
  const std::string peak =
      "{value: 4 TB/s, class: assumed, ci95: [2 TB/s, 5 TB/s], source: data sheet}";
  const RunRecord record =
      run(kDense, {"uncertainty.draws=100", "system.tiers.hbm.memory.latency=0 ps",
                   "system.gpu.launch=0 ps", "system.gpu.efficiency=1",
                   "system.tiers.hbm.memory.peak=" + peak});
  const Metric& step = record.metrics.at("step_time_s");
  ASSERT_TRUE(step.ci95);
  // The 3rd and the 98th of 100 draws are the ends. Every operation, and each of its bandwidths, is
  // rounded up by less than 1 ps and 1 part in 2e12.
  const double rounding = 1e-12 * 1000 + step.value * 1e-11;
  EXPECT_NEAR(step.ci95->high, step.value * 4 / 2, rounding);
  EXPECT_NEAR(step.ci95->low, step.value * 4 / 5, rounding);
  const Metric& rate = record.metrics.at("throughput_tokens_per_s");
  EXPECT_NEAR(rate.ci95->low / rate.value, 0.5, rounding / step.value);
  EXPECT_NEAR(rate.ci95->high / rate.value, 1.25, rounding / step.value);
}

TEST(Intervals, OfWhatTheStepDoesNotUseGiveNone) {
  const Settings unused{"system.tiers.pool.memory.latency.ci95=[1 ns, 10 us]"};
  const RunRecord with = run(kDense, unused);
  EXPECT_FALSE(with.draws);
  EXPECT_EQ(pretty_results(with), pretty_results(run(kDense, {})));
}

TEST(Intervals, OfWhatBindsNothingHaveEqualEnds) {
  const RunRecord record = run(kDense, {"system.gpu.peak_int8.ci95=[1900 TFLOP/s, 2000 TFLOP/s]"});
  for (const auto& [name, metric] : record.metrics) {
    EXPECT_EQ(metric.ci95.has_value(), has_time(name));
    if (!metric.ci95) continue;
    EXPECT_EQ(*metric.ci95, (Interval<double>{metric.value, metric.value})) << name;
  }
}

TEST(Intervals, OfAPriceMoveTheCostAlone) {
  const RunRecord record = run(kDense, {"system.gpu.price.ci95=[30000 USD, 40000 USD]"});
  for (const auto& [name, metric] : record.metrics) {
    if (!metric.ci95) continue;
    EXPECT_EQ(width(*metric.ci95) > 0, name == "cost_usd_per_mtoken") << name;
  }
}

// The 3rd and the 98th of 100 draws are the ends of a number's interval, so that the ends of a
// result are the results of two runs with these numbers. Times are not run again, and have none.
TEST(Intervals, OfPowersAreThoseOfRunsWithThem) {
  const std::pair<std::string, std::string> low{"236 W", "0.54 pJ/FLOP"};
  const std::pair<std::string, std::string> high{"437 W", "1.01 pJ/FLOP"};
  for (const char* scenario : {kDense, kMaple})
    for (const bool active : {true, false}) {
      const std::string key = active ? "system.gpu.active_power" : "system.gpu.energy_per_flop";
      const auto with = [&](const std::pair<std::string, std::string>& end) {
        return run(scenario, {key + "=" + (active ? end.first : end.second)});
      };
      const RunRecord least = with(low), most = with(high);
      const std::string interval = active ? "[236 W, 437 W]" : "[0.54 pJ/FLOP, 1.01 pJ/FLOP]";
      const RunRecord record = run(scenario, {"uncertainty.draws=100", key + ".ci95=" + interval});
      int priced = 0;
      for (const auto& [name, metric] : record.metrics) {
        const bool costs = has_time(name) && !name.ends_with("_s");
        EXPECT_EQ(metric.ci95.has_value(), costs) << name;
        if (!metric.ci95) continue;
        ++priced;
        const double from = least.metrics.at(name).value, to = most.metrics.at(name).value;
        EXPECT_LT(from, to) << name;
        EXPECT_NEAR(metric.ci95->low / from, 1, 1e-9) << name;
        EXPECT_NEAR(metric.ci95->high / to, 1, 1e-9) << name;
      }
      EXPECT_EQ(priced, 4);  // energy, that of GPUs, power, cost
      for (const KernelTimeRecord& kernel : record.kernel_times) EXPECT_FALSE(kernel.ci95);
      ASSERT_TRUE(record.draws);
      EXPECT_EQ(record.draws->numbers, 1);
    }
}

// A peak that binds nothing makes every draw a simulation; the draws of the others stay.
TEST(Intervals, OfPowersAreThoseOfDrawsThatRunAgain) {
  Settings set{"system.gpu.active_power.ci95=[236 W, 437 W]",
               "system.gpu.energy_per_flop.ci95=[0.54 pJ/FLOP, 1.01 pJ/FLOP]",
               "system.gpu.price.ci95=[30000 USD, 40000 USD]"};
  const RunRecord priced = run(kDense, set);
  set.emplace_back("system.tiers.hbm.memory.energy_per_byte.ci95=[1 pJ/B, 60 pJ/B]");
  const RunRecord with_memory = run(kDense, set);
  set.pop_back();
  set.emplace_back("system.gpu.peak_int8.ci95=[1900 TFLOP/s, 2000 TFLOP/s]");
  const RunRecord simulated = run(kDense, set);
  EXPECT_FALSE(priced.metrics.at("step_time_s").ci95);
  EXPECT_TRUE(simulated.metrics.at("step_time_s").ci95);
  for (const auto& [name, metric] : priced.metrics) {
    if (!metric.ci95) continue;
    EXPECT_EQ(metric.ci95, simulated.metrics.at(name).ci95) << name;
  }
  const char* energy = "energy_j_per_token";
  EXPECT_GT(width(*with_memory.metrics.at(energy).ci95), width(*priced.metrics.at(energy).ci95));
}

TEST(Intervals, AreTheSameAtEveryRepetition) {
  const Settings set{"system.tiers.hbm.memory.read_efficiency.ci95=[0.9, 0.94]",
                     "system.tiers.hbm.memory.latency.ci95=[300 ns, 400 ns]"};
  EXPECT_EQ(to_json(run(kMaple, set)), to_json(run(kMaple, set)));
  Settings seeded = set;
  seeded.emplace_back("uncertainty.seed=2");
  EXPECT_NE(pretty_results(run(kMaple, set)), pretty_results(run(kMaple, seeded)));
}

TEST(Intervals, AreLeftOutWhereOnlyTimesAreAskedFor) {
  const RunRecord record =
      run(kDense, {"system.tiers.hbm.memory.read_efficiency.ci95=[0.9, 0.94]"}, Evaluation::times);
  EXPECT_FALSE(record.draws);
  EXPECT_FALSE(record.metrics.at("step_time_s").ci95);
}

TEST(Intervals, ThatHoldWhatCannotRunAreAnError) {
  const auto full =
      simulate(testing::scenario(kDense, {"system.tiers.hbm.memory.capacity.ci95=[1 GB, 151 GB]"}),
               Evaluation::all);
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().find(" of 180 from the 95 % intervals cannot run: tier 'hbm' holds "),
            std::string::npos)
      << full.error();
}

TEST(KernelTimes, OfAStepWithoutTransfersSumToIt) {
  const RunRecord record = run(kDense, {});
  double sum = 0;
  for (const KernelTimeRecord& kernel : record.kernel_times) sum += kernel.seconds;
  // Each is a sum of whole picoseconds as a double.
  EXPECT_NEAR(sum, record.metrics.at("step_time_s").value, 1e-15);
}

// A fit of so many seconds a launch and nothing else, with an interval.
std::string fitted(const std::string& family) {
  return "system.gpu.kernels." + family +
         "={kernel: k, from: h200/x, part: h200, launch: {value: 10 us, class: fitted, "
         "ci95: [8 us, 20 us], source: x}, shortest: 1 us, longest: 1 s, part_memory_peak: {value: "
         "4.8 TB/s, class: specification, source: x}, part_peak: {value: 989 TFLOP/s, class: "
         "specification, source: x}}";
}

TEST(KernelTimes, OfAFittedFamilyCarryItsInterval) {
  const RunRecord record = run(kDense, {fitted("elementwise"), "uncertainty.draws=100"});
  const auto kernel =
      std::ranges::find(record.kernel_times, "elementwise", &KernelTimeRecord::family);
  ASSERT_NE(kernel, record.kernel_times.end());
  EXPECT_EQ(kernel->basis, "fitted");
  EXPECT_EQ(kernel->source, "h200/x: k");
  ASSERT_TRUE(kernel->ci95);
  // Launches from 2 us below to 10 us above; what is beside them takes the same in every draw.
  // Launch and body round by 1 ps, at the value and at an end: 4 ps of 2 us, on a ratio of 5.
  EXPECT_NEAR((kernel->ci95->high - kernel->seconds) / (kernel->seconds - kernel->ci95->low), 5,
              5 * 4e-12 / 2e-6);
  // The others rest on no number with an interval, and so have none.
  for (const KernelTimeRecord& other : record.kernel_times)
    EXPECT_EQ(other.ci95.has_value(), other.family == "elementwise") << other.family;
  EXPECT_EQ(record.draws->numbers, 1);
}

TEST(Intervals, OfAFamilyThatTheStepDoesNotRunGiveNone) {
  const RunRecord record = run(kDense, {fitted("latent_attention")});
  EXPECT_FALSE(record.draws);
  const auto number = std::ranges::find(
      record.numbers, "system.gpu.kernels.latent_attention.launch", &NumberRecord::path);
  ASSERT_NE(number, record.numbers.end());
  EXPECT_FALSE(number->in_times);
}

TEST(KernelTimes, SayWhatTheyRestOn) {
  const RunRecord record = run(kDense, {});
  std::map<std::string, std::string> basis;
  for (const KernelTimeRecord& kernel : record.kernel_times) basis[kernel.family] = kernel.basis;
  const std::map<std::string, std::string> expected{{"gemm", "specification"},
                                                    {"grouped_attention", "specification"},
                                                    {"elementwise", "specification"}};
  EXPECT_EQ(basis, expected);
  for (const KernelTimeRecord& kernel : record.kernel_times)
    EXPECT_EQ(kernel.number_class, NumberClass::assumed);  // efficiency and launch are
}

}  // namespace
}  // namespace tiersim::intervals_test
