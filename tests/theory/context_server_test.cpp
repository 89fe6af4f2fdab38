// Servers whose replicas have context ranks: room for the cache, times of iterations, and what is
// left at the end.
#include <fmt/format.h>

#include "sim/step/executor.hpp"
#include "tests/theory/serving_run.hpp"
#include "workloads/llm/step_builder.hpp"

namespace tiersim::context_server_test {
namespace {

using Settings = std::vector<std::string>;

// Llama-2 7B on the GPUs of one host, each of which has all weights.
ServingConfig server(std::int64_t ranks, const Settings& more = {}) {
  Settings set{"system.base=systems/h100_nvlink_8gpu.yaml",
               fmt::format("system.gpus.count={}", ranks),
               "server.base=servers/no_host.yaml",
               "measure.warm_up=0",
               "workload.requests=6",
               "workload.arrivals={process: at_once}",
               "workload.input={distribution: fixed, tokens: 700}",
               "workload.output={distribution: fixed, tokens: 3}"};
  if (ranks > 1) set.push_back(fmt::format("parallel.context={}", ranks));
  set.insert(set.end(), more.begin(), more.end());
  return testing::serving_config("serving/llama2_7b_h100.yaml", set);
}

KvLayout layout(const ServingConfig& config) {
  const auto out = kv_layout(config, build_stage_system(config.scenario));
  EXPECT_TRUE(out) << out.error();
  return *out;
}

// A block of 16 positions has 16 / N of them on each rank, of 32 layers with 4096 keys and values
// in fp16, so that a GPU has room for N times as many. Activations of a rank are fewer, too, and
// its buffers for the exchange are below a hundredth of the pool.
TEST(ContextServer, HasRoomForAsManyCachesAsRanks) {
  const KvLayout one = layout(server(1));
  for (const std::int64_t ranks : {2, 4, 8}) {
    const KvLayout cut = layout(server(ranks));
    EXPECT_EQ(cut.capacity.block_bytes, 16L * 32 * 2 * 4096 * 2 / ranks);
    EXPECT_EQ(cut.gathered(), one.gathered());
    EXPECT_EQ(cut.blocks_of(17), one.blocks_of(17));
    const double grown = static_cast<double>(cut.blocks) / static_cast<double>(one.blocks);
    EXPECT_NEAR(grown / static_cast<double>(ranks), 1, 0.01) << ranks;
  }
}

// The pool of a model with windows has as many blocks of each type of layer.
TEST(ContextServer, HasRoomForWindowsToo) {
  const Settings windows{"model.base=models/gpt_oss_20b.yaml", "step.weight_type=bf16"};
  const KvLayout one = layout(server(1, windows));
  const KvLayout cut = layout(server(4, windows));
  EXPECT_EQ(cut.groups, one.groups);
  EXPECT_EQ(4 * cut.capacity.block_bytes, one.capacity.block_bytes);
}

// One prompt in one piece, then two steps of 701 and 702 positions: the times of single steps.
TEST(ContextServer, TakesTheTimesOfSteps) {
  for (const std::string exchange : {"ring", "all_gather", "all_to_all"}) {
    const ServingConfig config =
        server(4, {"workload.requests=1", "parallel.context_exchange=" + exchange});
    const testing::Served run = testing::run_server(config);
    ASSERT_EQ(run.iterations.size(), 3U);
    const System system = build_stage_system(config.scenario);
    const auto step = [&](StepKind kind, std::int64_t context) {
      AttentionContext c = context_of(config.scenario, system);
      c.step.kind = kind;
      c.step.batch = 1;
      c.step.context = context;
      c.host_works = false;
      const StepGraph graph = build_step(c, *config.scenario.method.method, system.tier_names());
      return to_seconds(execute(graph, system, system.plan(graph)).time);
    };
    const auto served = [&](std::size_t i) {
      return to_seconds(run.iterations[i].end - run.iterations[i].gpu);
    };
    EXPECT_NEAR(served(0) / step(StepKind::prefill, 700), 1, 1e-6) << exchange;
    EXPECT_NEAR(served(1) / step(StepKind::decode, 701), 1, 1e-4) << exchange;
    EXPECT_NEAR(served(2) / step(StepKind::decode, 702), 1, 1e-4) << exchange;
  }
}

// Pieces of 256 tokens after cached ones, the last of 188: each as a prompt that finds the others.
TEST(ContextServer, ReadsPiecesOfPromptsAfterCachedPositions) {
  const ServingConfig config = server(4, {"workload.requests=1", "parallel.context_ring=auto",
                                          "server.scheduler.max_batched_tokens=256"});
  const testing::Served run = testing::run_server(config);
  ASSERT_EQ(run.iterations.size(), 5U);
  const System system = build_stage_system(config.scenario);
  for (std::size_t i = 0; i < 3; ++i) {
    AttentionContext c = context_of(config.scenario, system);
    c.step.kind = StepKind::prefill;
    c.step.batch = 1;
    const auto before = static_cast<std::int64_t>(256 * i);
    c.step.context = std::min<std::int64_t>(before + 256, 700);
    if (before > 0) c.step.cached = before;
    c.host_works = false;
    const StepGraph graph = build_step(c, *config.scenario.method.method, system.tier_names());
    const double step = to_seconds(execute(graph, system, system.plan(graph)).time);
    const double served = to_seconds(run.iterations[i].end - run.iterations[i].gpu);
    // A piece that does not end its prompt has no head.
    EXPECT_LE(served, step * (1 + 1e-6)) << i;
    EXPECT_NEAR(served / step, 1, 0.05) << i;
  }
}

// A prompt of fewer tokens than pieces is padded to them.
TEST(ContextServer, ReadsShortPrompts) {
  const testing::Served run =
      testing::run_server(server(8, {"workload.input={distribution: fixed, tokens: 3}"}));
  for (const RequestOutcome& request : run.requests) EXPECT_EQ(request.output_tokens, 3);
  EXPECT_EQ(run.iterations.back().blocks_used, 0);
}

// Every request ends with its length, and no block is left, with a pool that preempts.
TEST(ContextServer, EndsWithoutBlocks) {
  for (const std::string preemption : {"recompute", "swap"}) {
    const testing::Served run = testing::run_server(server(
        4, {"workload.requests=60", "workload.input={distribution: fixed, tokens: 100}",
            "workload.output={distribution: fixed, tokens: 300}", "server.kv.share=0.01",
            "system.base=systems/h100_nvlink_8gpu.yaml", "server.kv.preemption=" + preemption}));
    std::int64_t preemptions = 0;
    for (const RequestOutcome& request : run.requests) {
      EXPECT_EQ(request.output_tokens, 300);
      preemptions += request.preemptions;
    }
    EXPECT_GT(preemptions, 0) << preemption;
    EXPECT_EQ(run.iterations.back().blocks_used, 0) << preemption;
  }
}

// Requests that follow each other on one GPU and on four: what a prefix cache finds is the same,
// since blocks are of positions, whichever rank has them.
TEST(ContextServer, FindsThePrefixesOfOneGpu) {
  const std::string sessions =
      "workload.sessions={count: 4, turns: {count: 3}, first_prompt: {tokens: 600}, "
      "message: {tokens: 200}, think_time: {time: 5 s}}";
  const auto hits = [&](std::int64_t ranks) {
    const ServingConfig config =
        server(ranks, {"workload.requests=~", "workload.input=~",
                       "workload.arrivals={process: poisson, requests_per_s: 0.01}",
                       "workload.output={distribution: fixed, tokens: 30}", sessions,
                       "server.prefix_cache={tiers: []}"});
    const auto record = serve(config);
    EXPECT_TRUE(record) << record.error();
    return record->metrics.at("prefix_hit_rate").value;
  };
  EXPECT_GT(hits(1), 0.3);
  EXPECT_EQ(hits(4), hits(1));
}

TEST(ContextServer, DoesNotDependOnThreads) {
  const Settings two{"system.gpus.count=8", "workload.requests=20"};
  const auto one = serve(server(4, two), nullptr, 1);
  const auto four = serve(server(4, two), nullptr, 4);
  ASSERT_TRUE(one && four);
  EXPECT_EQ(pretty_results(*one), pretty_results(*four));
}

}  // namespace
}  // namespace tiersim::context_server_test
