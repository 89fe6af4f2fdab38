// Each CPU cost of a server (`server.host`) lengthens an iteration by the amount that a calculation
// by hand gives. Every test compares a run with the cost to the same run without it.
#include "tests/theory/serving_run.hpp"

#include <fmt/format.h>

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
  few.emplace_back("server.host.graph_sizes=[1, 2]");
  EXPECT_GT(time(served(few).iterations[1]), Duration(100'000'000'000));
}

// Three sequences in a graph for 64 or 4096 compute the products of that many rows.
TEST(Host, PadsABatchToACapturedSize) {
  const auto decoding = [](const std::vector<std::string>& set) {
    const testing::Served run = served(set);
    return run.iterations.back().end - run.iterations.back().gpu;
  };
  const Settings eager{"server.host.eager_launch=1 ms"};
  const auto with = [&](const char* sizes, const char* padding) {
    Settings set = eager;
    set.insert(set.end(), {sizes, padding});
    return decoding(set);
  };
  const Duration exact = decoding(eager);
  EXPECT_EQ(with("server.host.graph_sizes=[1, 2, 3]", "server.host.graph_padding=true"), exact);
  const Duration padded =
      with("server.host.graph_sizes=[1, 2, 64]", "server.host.graph_padding=true");
  const Duration unpadded =
      with("server.host.graph_sizes=[1, 2, 64]", "server.host.graph_padding=false");
  EXPECT_GT(padded, exact);
  EXPECT_LT(padded, 2 * exact);  // of memory-bound products
  // 4093 more rows through 6.5 billion weights take longer than at the peak, less the time of
  // reading weights.
  const Duration bound =
      with("server.host.graph_sizes=[4096]", "server.host.graph_padding=true") - exact;
  EXPECT_GT(to_seconds(bound), 0.9 * 4093 * 2 * 6.5e9 / 989e12);
  EXPECT_GT(unpadded, Duration(100'000'000'000));
}

TEST(Host, ReadsOneRequestAfterTheOther) {
  const testing::Served run =
      served({"server.host.request=100 ms", "server.host.prompt_token=1 ms"});
  for (std::size_t i = 0; i < run.requests.size(); ++i)
    EXPECT_EQ(run.requests[i].started - run.requests[i].arrival,
              repeated(Duration(200'000'000'000), static_cast<std::int64_t>(i) + 1));
}

// The second request arrives while the first one is read.
TEST(Host, PlansAheadWhereItOverlaps) {
  const auto run = [](const char* overlap) {
    return served({overlap, "workload.requests=2",
                   "workload.arrivals={process: fixed_rate, requests_per_s: 300}"});
  };
  const testing::Served waits = run("server.host.overlap=false");
  const testing::Served ahead = run("server.host.overlap=true");
  for (const testing::Served& each : {waits, ahead})
    ASSERT_TRUE(each.requests[1].arrival > each.iterations[0].begin &&
                each.requests[1].arrival < each.iterations[0].end);
  EXPECT_EQ(waits.requests[1].started, waits.iterations[1].begin);
  EXPECT_EQ(ahead.requests[1].started, ahead.iterations[2].begin);
}

// A request that comes while the last sequence's last token is made is not planned for; the GPU
// takes it up without a pause.
TEST(Host, TakesUpARequestWhereNothingWasPlanned) {
  const testing::Served run =
      served({"server.host.overlap=true", "workload.requests=2", "workload.output={tokens: 1}",
              "workload.arrivals={process: fixed_rate, requests_per_s: 300}"});
  ASSERT_EQ(run.iterations.size(), 2U);
  EXPECT_LT(run.requests[1].arrival, run.iterations[0].end);
  EXPECT_EQ(run.requests[1].started, run.iterations[0].end);
}

// Two requests of 100 tokens, the first with 4 tokens in its answer and the second with 4, too.
TEST(MeasuredAs, FollowsTheBenchmark) {
  const auto record_as = [](const std::string& tool) {
    const char* workload =
        "workload={requests: 2, arrivals: {process: closed_loop, users: 2}, input: {tokens: 100}, "
        "output: {tokens: 4}}";
    const auto record = serve(
        testing::serving_config("serving/llama2_7b_h100.yaml",
                                {"server.base=servers/no_host.yaml", "server.host.request=100 ms",
                                 "measure.warm_up=0", "measure.as=" + tool, workload}));
    EXPECT_TRUE(record) << record.error();
    return *record;
  };
  const auto of = [](const RunRecord& record, const char* name) {
    return record.metrics.at(name).value;
  };
  const RunRecord vllm = record_as("vllm_bench");
  const RunRecord aiperf = record_as("aiperf");
  const RunRecord trtllm = record_as("trtllm_bench");
  // The second request is read after the first one, so the quantiles lie between the two.
  EXPECT_NEAR(of(vllm, "ttft_s.p50"), of(vllm, "ttft_s.mean"), 1e-12);
  EXPECT_GT(of(vllm, "ttft_s.p99"), of(vllm, "ttft_s.p50"));
  EXPECT_EQ(of(aiperf, "inter_token_latency_s.mean"), of(aiperf, "tpot_s.mean"));
  EXPECT_EQ(of(aiperf, "inter_token_latency_s.p99"), of(aiperf, "tpot_s.p99"));
  EXPECT_EQ(of(aiperf, "ttft_s.p99"), of(vllm, "ttft_s.p99"));
  // Both prompts are read at once, without a frontend.
  EXPECT_LT(of(trtllm, "ttft_s.p99"), 0.1);
  EXPECT_GT(of(vllm, "ttft_s.p50"), 0.1);
}

// A second request comes while the first one decodes. The server looks for it after 30 iterations
// that only decode, and at once where nothing runs.
TEST(Host, LooksForRequestsAfterSomeDecodes) {
  const auto decodes_before_second = [](std::int64_t interval, int tokens, bool overlap = false) {
    const testing::Served run = served(
        {fmt::format(
             "workload={{requests: 2, arrivals: {{process: fixed_rate, requests_per_s: 20}}, "
             "input: {{tokens: 100}}, output: {{tokens: {}}}}}",
             tokens),
         fmt::format("server.host.overlap={}", overlap),
         fmt::format("server.scheduler.receive_interval={}", interval)});
    std::vector<std::int64_t> prompts;
    for (std::size_t i = 0; i < run.iterations.size(); ++i)
      if (run.iterations[i].prompt_tokens > 0) prompts.push_back(static_cast<std::int64_t>(i));
    EXPECT_EQ(prompts.size(), 2U);
    return prompts.size() == 2 ? prompts[1] - prompts[0] - 1 : -1;
  };
  const std::int64_t at_once = decodes_before_second(1, 200);
  ASSERT_GT(at_once, 2);
  ASSERT_LT(at_once, 30);
  EXPECT_EQ(decodes_before_second(30, 200), 30);  // after the look that follows the prompt
  // A request is in the plan after the iteration at whose begin it was taken in.
  EXPECT_EQ(decodes_before_second(30, 200, true), 31);
  EXPECT_EQ(decodes_before_second(30, 3), 2);  // its answer has ended when the second comes
}

}  // namespace
}  // namespace tiersim::serving_host_test
