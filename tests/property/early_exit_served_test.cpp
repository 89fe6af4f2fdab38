// A server with early exit against known results: the depth of batches of independent tokens, and
// limits at which it equals a server without early exit.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/serving/serve.hpp"
#include "tests/support/shipped.hpp"
#include "workloads/early_exit/exit_depths.hpp"

namespace tiersim::early_exit_served_test {
namespace {

constexpr std::int64_t kTokens = 64;
constexpr std::int64_t kBatches = 10;

// Static batches on a server that takes no time, so that every decode iteration has the whole
// batch.
ServingConfig batches_of(std::int64_t batch, const std::vector<std::string>& set) {
  Diagnostics diagnostics;
  std::vector<std::string> all{"server.base=servers/no_host.yaml",
                               "server.scheduler.policy=static"};
  all.insert(all.end(), set.begin(), set.end());
  const Document document = load_document(
      testing::configs() / "serving/early_exit/t5_base_rtx4090.yaml",
      {.overrides = all, .config_root = testing::configs(), .importers = make_all_importers()},
      diagnostics);
  auto config = read<ServingConfig>(document, "serving", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  config.workload.arrivals = ArrivalConfig{.process = ArrivalProcess::at_once};
  config.workload.output = LengthConfig{.tokens = kTokens};
  config.workload.requests = kBatches * batch;
  config.server.scheduler.max_sequences = batch;
  config.server.scheduler.max_batched_tokens = 512 * batch;
  config.measure = {.warm_up = 0};
  return config;
}

double metric(const ServingConfig& config, const std::string& name) {
  const auto record = serve(config);
  if (!record) {
    ADD_FAILURE() << record.error();
    return 0;
  }
  return record->metrics.at(name).value;
}

// The deepest of B independent tokens is at most l with probability F(l)^B, so that a batch runs
// sum over l of 1 - F(l)^B layers; over n iterations within 4 standard deviations of their mean.
TEST(ServedEarlyExit, RunsTheLayersOfTheDeepestToken) {
  for (const std::int64_t batch : {1, 8, 64})
    for (const char* spread : {"1", "3"}) {
      const ServingConfig config = batches_of(
          batch,
          {"early_exit.depths.correlation=0", "early_exit.depths.spread=" + std::string(spread)});
      const std::int64_t layers = config.scenario.model.layers;
      const ExitDepths depths(*config.early_exit, layers, 1);
      double mean = 0;
      double square = 0;
      double below = 0;
      for (std::int64_t l = 1; l <= layers; ++l) {
        const double at_most = std::pow(depths.at_most(l), static_cast<double>(batch));
        mean += static_cast<double>(l) * (at_most - below);
        square += static_cast<double>(l * l) * (at_most - below);
        below = at_most;
      }
      const double iterations = kBatches * (kTokens - 1);
      EXPECT_NEAR(metric(config, "layers_run.mean"), mean,
                  4 * std::sqrt((square - mean * mean) / iterations) + 1e-9)
          << batch << ' ' << spread;
    }
}

// Correlated tokens cost a batch no depth: at correlation 1 it runs as deep as one token.
TEST(ServedEarlyExit, OfTokensThatLeaveTogetherDoesNotDependOnTheBatch) {
  const std::vector<std::string> set{"early_exit.depths.correlation=1"};
  EXPECT_EQ(metric(batches_of(1, set), "layers_run.mean"),
            metric(batches_of(64, set), "layers_run.mean"));
}

TEST(ServedEarlyExit, ThatNobodyTakesIsAServerWithout) {
  for (const std::int64_t batch : {1, 16}) {
    ServingConfig config = batches_of(batch, {});
    config.early_exit = EarlyExitConfig{.technique = ExitTechnique::full};
    const double full = metric(config, "inter_token_latency_s.mean");
    config.early_exit.reset();
    EXPECT_EQ(full, metric(config, "inter_token_latency_s.mean"));
  }
}

// Half of the layers, and the keys and values of the others as one launch, take more than half of
// the time and less than all of it.
TEST(ServedEarlyExit, OfHalfOfTheLayersTakesMoreThanHalfOfTheTime) {
  ServingConfig config = batches_of(16, {});
  config.early_exit = EarlyExitConfig{.technique = ExitTechnique::full};
  const double full = metric(config, "inter_token_latency_s.mean");
  config.early_exit->technique = ExitTechnique::static_half;
  const double half = metric(config, "inter_token_latency_s.mean");
  EXPECT_GT(half, full / 2);
  EXPECT_LT(half, full);
}

// Depths from a file that are all the deepest cost all layers and all measures: more than `full`.
TEST(ServedEarlyExit, MeasuringWithoutLeavingCostsTheMeasures) {
  ServingConfig config = batches_of(8, {});
  config.early_exit = EarlyExitConfig{.technique = ExitTechnique::full};
  const double full = metric(config, "inter_token_latency_s.mean");
  config.early_exit = EarlyExitConfig{.technique = ExitTechnique::state,
                                      .depths = ExitDepthConfig{.traced = {{12}}}};
  EXPECT_EQ(metric(config, "layers_run.mean"), 12);
  EXPECT_GT(metric(config, "inter_token_latency_s.mean"), full);
}

// The CPU waits once for each measured layer and once an iteration, beside the time of the GPU.
TEST(ServedEarlyExit, DecisionsOfTheHostAreEachASync) {
  ServingConfig config = batches_of(8, {});
  config.early_exit->depths = ExitDepthConfig{.traced = {{5, 3}, {4}}};
  const double without = metric(config, "inter_token_latency_s.mean");
  config.server.host.sync.value = Duration(std::int64_t{7'000'000});
  // The deepest of a batch of eight is 5 and then, at odd tokens, 4: both in turn over 63 tokens
  // of which the first is token 1.
  const double layers = (32 * 4 + 31 * 5) / 63.0;
  EXPECT_NEAR(metric(config, "layers_run.mean"), layers, 1e-12);
  EXPECT_NEAR(metric(config, "inter_token_latency_s.mean") - without, 7e-6 * (layers + 1), 1e-12);
}

}  // namespace
}  // namespace tiersim::early_exit_served_test
