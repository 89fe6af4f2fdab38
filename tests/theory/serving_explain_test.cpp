// An average iteration, where all iterations of a kind are alike: its parts are the iteration.
#include "sim/serving/explain.hpp"

#include "sim/serving/serve.hpp"
#include "tests/theory/serving_run.hpp"

namespace tiersim::serving_explain_test {
namespace {

using Settings = std::vector<std::string>;

// Four requests at once of 256 tokens in and 2 out: one iteration of each kind.
std::vector<ExplainedIteration> explained(const std::string& file, Settings set) {
  Settings all{"server.base=servers/no_host.yaml", "measure.warm_up=0",
               "workload={requests: 4, arrivals: {process: at_once}, input: {tokens: 256}, "
               "output: {tokens: 2}}"};
  all.insert(all.end(), set.begin(), set.end());
  const ServingConfig config = testing::serving_config(file, all);
  IterationAverages averages(config);
  EXPECT_TRUE(serve(config, &averages));
  return explain(config, averages);
}

TEST(Explain, ThePartsOfEqualIterationsAreTheirTime) {
  for (const Settings& set :
       {Settings{}, Settings{"system.base=systems/h100_nvlink.yaml", "parallel.tensor=2"}}) {
    const auto iterations = explained("serving/llama2_7b_h100.yaml", set);
    ASSERT_EQ(iterations.size(), 2U);
    for (const ExplainedIteration& each : iterations) {
      EXPECT_EQ(each.iterations, 1);
      EXPECT_EQ(each.before, 0);
      EXPECT_EQ(each.waits, 0);
      EXPECT_NEAR(each.kernel_time(), each.gpu, 1e-6 * each.gpu);
    }
    EXPECT_EQ(iterations[0].decodes, 4);
    EXPECT_EQ(iterations[0].context, 257);
    EXPECT_EQ(iterations[1].prompt_tokens, 4 * 256);
    EXPECT_TRUE(iterations[1].reads_prompts);
  }
}

TEST(Explain, TellsWaitsForTheCpuApart) {
  const auto iterations = explained(
      "serving/llama2_7b_h100.yaml",
      {"server.host.sync=1 ms", "server.host.sync_sequence=10 us", "server.host.iteration=2 ms",
       "server.host.eager_launch=1 ms", "server.host.graphs_with_prompts=false"});
  ASSERT_EQ(iterations.size(), 2U);
  EXPECT_NEAR(iterations[0].waits, 1.04e-3, 1e-9);
  EXPECT_NEAR(iterations[0].before, 2e-3, 1e-9);
  for (const ExplainedIteration& each : iterations)
    EXPECT_NEAR(each.kernel_time() + each.waits, each.gpu, 1e-6 * each.gpu);
  EXPECT_GT(iterations[1].waits, 0.05);  // launched one by one
}

// The passes of a draft wait for the CPU that dispatches them, or the GPU for a search in the text.
TEST(Explain, TellsWaitsForDraftsApart) {
  for (const std::string draft : {"{kind: eagle, inputs: 4, dispatch: 2 ms}",
                                  "{kind: ngram, host: 1 ms}", "{kind: eagle, inputs: 4}"}) {
    const auto iterations =
        explained("serving/llama2_7b_h100.yaml",
                  {"speculation={draft: " + draft + ", tokens: 2, acceptance: {rate: 0}}"});
    ASSERT_EQ(iterations.size(), 2U);
    EXPECT_NEAR(iterations[0].kernel_time() + iterations[0].waits, iterations[0].gpu,
                1e-6 * iterations[0].gpu)
        << draft;
    EXPECT_EQ(iterations[0].waits > 3e-3, draft.find("ms") != std::string::npos) << draft;
  }
}

TEST(Explain, CountsTheKernelsOfEachPart) {
  const auto iterations =
      explained("serving/llama2_7b_h100.yaml", {"execution.base=engines/vllm_v1.yaml"});
  const auto part = [&](const std::string& name) {
    const auto& parts = iterations[0].parts;
    const auto found = std::ranges::find(parts, name, &IterationPart::name);
    return found == parts.end() ? -1 : found->launches;
  };
  EXPECT_EQ(part("products of the MLP"), 2 * 32);
  EXPECT_EQ(part("decode attention"), 32);
  EXPECT_EQ(part("head"), 1);
  // Two norms, rotary embedding and activation of each layer; the last norm and sampling.
  EXPECT_EQ(part("norms, rotary, activation, sampling"), 4 * 32 + 2);
}

}  // namespace
}  // namespace tiersim::serving_explain_test
