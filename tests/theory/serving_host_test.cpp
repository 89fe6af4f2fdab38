// Each CPU cost of a server (`server.host`) lengthens an iteration by the amount that a calculation
// by hand gives. Every test compares a run with the cost to the same run without it.
#include "tests/theory/serving_run.hpp"

namespace tiersim::serving_host_test {
namespace {

using Settings = std::vector<std::string>;

// Three requests at once of 100 tokens in and 4 out.
testing::Served served(Settings set) {
  Settings all{"server.base=servers/no_host.yaml", "measure.warm_up=0",
               "workload={requests: 3, arrivals: {process: at_once}, input: {tokens: 100}, "
               "output: {tokens: 4}}"};
  all.insert(all.end(), set.begin(), set.end());
  return testing::run_server(testing::serving_config("serving/llama2_7b_h100.yaml", all));
}

Duration length(const testing::Served& run) {
  return run.end - SimTime{};
}

TEST(Host, TheGpuWaitsOnceAnIterationAndForEachSequence) {
  const testing::Served free = served({});
  const testing::Served waits =
      served({"server.host.sync=1 ms", "server.host.sync_sequence=10 us"});
  ASSERT_EQ(free.iterations.size(), waits.iterations.size());
  const auto iterations = static_cast<std::int64_t>(free.iterations.size());
  EXPECT_EQ(iterations, 4);
  EXPECT_EQ(length(waits) - length(free),
            repeated(Duration(1'000'000'000 + 3 * 10'000'000), iterations));
}

TEST(Host, LaunchesBoundIterationsThatNoGraphCovers) {
  const Settings slow{"server.host.eager_launch=1 ms", "server.host.graphs_with_prompts=false"};
  const testing::Served free = served({});
  const testing::Served eager = served(slow);
  const auto time = [](const IterationSample& sample) { return sample.end - sample.gpu; };
  // Hundreds of kernels of 1 ms each; the iterations that only decode are captured.
  EXPECT_GT(time(eager.iterations[0]), Duration(100'000'000'000));
  EXPECT_EQ(eager.iterations[0].end - eager.iterations[0].gpu,
            repeated(Duration(1'000'000'000), time(eager.iterations[0]).count() / 1'000'000'000));
  for (std::size_t i = 1; i < free.iterations.size(); ++i)
    EXPECT_EQ(time(eager.iterations[i]), time(free.iterations[i]));
  Settings few = slow;
  few.emplace_back("server.host.graph_sequences=2");
  EXPECT_GT(time(served(few).iterations[1]), Duration(100'000'000'000));
}

TEST(Host, ReadsOneRequestAfterTheOther) {
  const testing::Served run =
      served({"server.host.request=100 ms", "server.host.prompt_token=1 ms"});
  for (std::size_t i = 0; i < run.requests.size(); ++i)
    EXPECT_EQ(run.requests[i].started - run.requests[i].arrival,
              repeated(Duration(200'000'000'000), static_cast<std::int64_t>(i) + 1));
}

}  // namespace
}  // namespace tiersim::serving_host_test
