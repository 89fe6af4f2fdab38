// What it costs in accuracy that all sequences of an iteration have their mean context: the mean
// time over their own contexts beside the time at the mean. Lengths are lognormal.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/serving/iteration_cost.hpp"
#include "tests/support/shipped.hpp"
#include "workloads/serving/lengths.hpp"

namespace tiersim::mean_context_test {
namespace {

// (time at the mean) / (mean of the times) - 1 for 64 sequences whose lengths have this sigma.
double error_of_mean(const std::string& file, double sigma) {
  Diagnostics diagnostics;
  const Document document = load_document(
      testing::configs() / file,
      {.config_root = testing::configs(), .importers = make_all_importers()}, diagnostics);
  const auto config = read<ServingConfig>(document, "serving", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  const System system = build_stage_system(config.scenario);
  IterationCost cost(config, system);
  constexpr std::int64_t kSequences = 64;
  Lengths lengths({.distribution = LengthDistribution::lognormal,
                   .tokens = 2000,
                   .sigma = sigma,
                   .min = 16,
                   .max = 60'000},
                  1, "lengths");
  std::int64_t positions = 0;
  double sum = 0;
  for (std::int64_t i = 0; i < kSequences; ++i) {
    const std::int64_t context = lengths.next();
    positions += context;
    sum += to_seconds(
        cost.of({.decodes = kSequences, .positions = kSequences * context, .logits = kSequences})
            .time());
  }
  const double at_mean = to_seconds(
      cost.of({.decodes = kSequences, .positions = positions, .logits = kSequences}).time());
  return at_mean / (sum / kSequences) - 1;
}

TEST(MeanContext, IsNearlyExactForDenseAttention) {
  for (const double sigma : {0.5, 1.0, 1.5}) {
    EXPECT_LT(std::abs(error_of_mean("serving/llama3_8b_h100_poisson.yaml", sigma)), 0.005);
    EXPECT_LT(std::abs(error_of_mean("serving/llama2_7b_h100.yaml", sigma)), 0.005);
  }
}

// MAPLE's reads are shares of the context, and below a budget all of it.
TEST(MeanContext, IsNearlyExactForMaple) {
  for (const double sigma : {0.5, 1.0, 1.5})
    EXPECT_LT(std::abs(error_of_mean("serving/llama3_8b_h200_maple.yaml", sigma)), 0.005);
}

}  // namespace
}  // namespace tiersim::mean_context_test
