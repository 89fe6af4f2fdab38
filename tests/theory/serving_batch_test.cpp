// A server's iterations against single steps of the same batch (simulate()), and consequences for a
// run: handovers, independent replicas, scaling.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "sim/base/rng.hpp"
#include "sim/step/simulate.hpp"
#include "tests/theory/serving_run.hpp"
#include "tests/unit/step/small_system.hpp"
#include "tests/unit/workloads/small_step.hpp"
#include "workloads/attention/kv_ops.hpp"

namespace tiersim::serving_batch_test {
namespace {

using Settings = std::vector<std::string>;

const Settings kIdeal{"server.base=servers/no_host.yaml", "measure.warm_up=0",
                      "workload.arrivals={process: at_once}"};

ServingConfig ideal(const std::string& file, Settings set) {
  set.insert(set.begin(), kIdeal.begin(), kIdeal.end());
  return testing::serving_config(file, set);
}

struct Step {
  Duration time{};
  std::int64_t rounding = 0;  // ps
};

// One step of the replica in the file.
Step step_of(const ServingConfig& config, StepKind kind, std::int64_t batch, std::int64_t context) {
  const ScenarioConfig& c = config.scenario;
  const System system = build_stage_system(c);
  AttentionContext replica = context_of(c, system);
  replica.host_works = false;
  replica.step.kind = kind;
  replica.step.batch = batch;
  replica.step.context = context;
  const StepGraph graph = build_step(replica, *c.method.method, system.tier_names());
  return {execute(graph, system, system.plan(graph)).time,
          3 * static_cast<std::int64_t>(graph.ops.size())};
}

struct Case {
  const char* name;
  const char* file;
  const char* policy;
  Settings set = {};
};

class EqualRequests : public ::testing::TestWithParam<Case> {};

// n requests at once are read in one step and answered in m - 1 steps, with any batching policy.
// The sum of operations equals the engine's time to 3 ps an operation (iteration_cost.hpp).
// memory are each rounded (iteration_cost.hpp).
TEST_P(EqualRequests, TakeTheStepsThatTheEngineGives) {
  constexpr std::int64_t kRequests = 4;
  constexpr std::int64_t kInput = 300;
  constexpr std::int64_t kOutput = 6;
  Settings set = GetParam().set;
  for (const std::string& each : {std::string("server.scheduler.policy=") + GetParam().policy,
                                  std::string("server.scheduler.max_batched_tokens=4096"),
                                  fmt::format("workload.requests={}", kRequests),
                                  fmt::format("workload.input={{tokens: {}}}", kInput),
                                  fmt::format("workload.output={{tokens: {}}}", kOutput)})
    set.push_back(each);
  const ServingConfig config = ideal(GetParam().file, set);
  const testing::Served served = testing::run_server(config);
  const Step prefill = step_of(config, StepKind::prefill, kRequests, kInput);
  Duration expected = prefill.time;
  std::int64_t rounding = prefill.rounding;
  for (const RequestOutcome& request : served.requests)
    EXPECT_NEAR(static_cast<double>((request.first_token - request.arrival).count()),
                static_cast<double>(expected.count()), static_cast<double>(rounding));
  for (std::int64_t k = 1; k < kOutput; ++k) {
    const Step decode = step_of(config, StepKind::decode, kRequests, kInput + k);
    expected += decode.time;
    rounding += decode.rounding;
  }
  for (const RequestOutcome& request : served.requests)
    EXPECT_NEAR(static_cast<double>((request.finished - request.arrival).count()),
                static_cast<double>(expected.count()), static_cast<double>(rounding));
  EXPECT_EQ(served.iterations.size(), static_cast<std::size_t>(kOutput));
}

constexpr const char* kLlama = "serving/llama2_7b_h100.yaml";

INSTANTIATE_TEST_SUITE_P(
    Servers, EqualRequests,
    ::testing::Values(
        Case{"static", kLlama, "static"}, Case{"chunked", kLlama, "chunked"},
        Case{"prefill_first", kLlama, "prefill_first"},
        Case{"decode_first", kLlama, "decode_first"},
        Case{"grouped_queries",
             kLlama,
             "chunked",
             {"model.base=models/llama3_8b.yaml", "step.weight_type=bf16", "step.kv_type=bf16"}},
        Case{"window",
             kLlama,
             "chunked",
             {"model.base=models/mistral_7b.yaml", "step.weight_type=bf16", "step.kv_type=bf16"}},
        Case{"tensor_parallel_latents",
             kLlama,
             "chunked",
             {"model.base=models/llama2_7b_transmla.yaml", "step.weight_type=bf16",
              "step.kv_type=bf16", "system.base=systems/h100_nvlink.yaml", "system.gpus.count=2",
              "parallel={tensor: 2, latent_slices: 2}"}},
        Case{"weights_copied",
             kLlama,
             "chunked",
             {"placement.far=pool", "placement.weights={share: 0.4, read: copied}"}},
        Case{"weights_read_where_they_are",
             kLlama,
             "static",
             {"placement.far=pool", "placement.weights={share: 0.4, read: direct}"}},
        Case{"attention_on_the_cpu",
             kLlama,
             "static",
             {"placement.far=pool", "method={name: dense, kv_tier: far, attend_on: cpu}",
              "system.cpu={base: devices/host_cpu_flexgen.yaml}"}}),
    [](const auto& of) { return std::string(of.param.name); });

// Where operations of a decode step overlap, the engine runs the step itself, at 16 contexts to the
// octave. 304 is one of them, so nothing is rounded.
TEST(OverlappingSteps, TakeExactlyWhatTheEngineGives) {
  const ServingConfig config =
      ideal("serving/llama3_8b_h200_maple.yaml",
            {"workload.requests=3", "workload.input={tokens: 303}", "workload.output={tokens: 2}"});
  const System system = build_stage_system(config.scenario);
  EXPECT_TRUE(IterationCost(config, system).executed());
  const testing::Served served = testing::run_server(config);
  const Step prefill = step_of(config, StepKind::prefill, 3, 303);
  const Duration decode = step_of(config, StepKind::decode, 3, 304).time;
  for (const RequestOutcome& request : served.requests) {
    EXPECT_NEAR(static_cast<double>((request.first_token - request.arrival).count()),
                static_cast<double>(prefill.time.count()), static_cast<double>(prefill.rounding));
    EXPECT_EQ(request.finished - request.first_token, decode);
  }
}

// A step that copies the weights of its next layer while one works overlaps, too: the engine runs
// it.
TEST(OverlappingSteps, CopyWeightsAheadAsTheEngineDoes) {
  const ServingConfig config =
      ideal("serving/llama2_7b_h100.yaml",
            {"workload.requests=3", "workload.input={tokens: 303}", "workload.output={tokens: 2}",
             "placement={near: hbm, far: pool, weights: {share: 0.4, read: prefetched}}"});
  const System system = build_stage_system(config.scenario);
  EXPECT_TRUE(IterationCost(config, system).executed());
  const testing::Served served = testing::run_server(config);
  const Duration decode = step_of(config, StepKind::decode, 3, 304).time;
  for (const RequestOutcome& request : served.requests)
    EXPECT_EQ(request.finished - request.first_token, decode);
}

// A prompt in two pieces is read in two iterations, each of which attends to the present positions:
// the operations are those of the pieces. The second takes at least half as long as the whole
// prompt.
TEST(Pieces, OfAPromptTakeMoreThanTheWhole) {
  const Settings prompt{"workload.requests=1", "workload.input={tokens: 4096}",
                        "workload.output={tokens: 1}", "server.scheduler.max_sequences=1"};
  Settings cut = prompt;
  cut.push_back("server.scheduler.max_batched_tokens=2048");
  const testing::Served whole = testing::run_server(ideal(kLlama, prompt));
  const testing::Served pieces = testing::run_server(ideal(kLlama, cut));
  ASSERT_EQ(pieces.iterations.size(), 2U);
  const IterationSample& first = pieces.iterations[0];
  const IterationSample& second = pieces.iterations[1];
  EXPECT_EQ(first.prompt_tokens, 2048);
  EXPECT_GT(second.end - second.gpu, first.end - first.gpu);
  EXPECT_GT(pieces.end, whole.end);
}

// The first token comes from the replica that read the prompt. The second one comes after the cache
// has arrived at the other replica, which decodes it. 1000 positions are 63 blocks of 16.
TEST(Handover, LiesBetweenTheFirstTokenAndTheSecond) {
  const ServingConfig config = ideal(
      kLlama, {"model.base=models/llama3_8b.yaml", "step.weight_type=bf16", "step.kv_type=bf16",
               "system.base=systems/h100_nvlink_handover.yaml", "system.gpus.count=2",
               "server.disaggregation={prefill_replicas: 1}", "workload.requests=1",
               "workload.input={tokens: 1000}", "workload.output={tokens: 2}"});
  const testing::Served served = testing::run_server(config);
  const System system = build_stage_system(config.scenario);
  const TierId near = system.tier(config.scenario.placement.near);
  const Bytes cache = Bytes::from_base(63LL * 16 * 128 * 1024);
  const Bytes run = Bytes::from_base(16LL * 8 * 128 * 2);  // keys of a block in one layer
  Op op{.kind = OpKind::collective,
        .phase = Phase::kv_transfer,
        .requester = RequesterKind::copy_engine,
        .flops = {}};
  op.collective = {
      .kind = CollectiveKind::send, .fabric = Fabric::transfer, .size = cache, .ranks = 2};
  add_access(op, near, Direction::read, {TensorClass::keys, cache, run});
  const Duration handover = system.plan(op).uncontended(system.channels());
  const Step prefill = step_of(config, StepKind::prefill, 1, 1000);
  const Step decode = step_of(config, StepKind::decode, 1, 1001);
  const RequestOutcome& request = served.requests.front();
  EXPECT_NEAR(static_cast<double>((request.first_token - request.arrival).count()),
              static_cast<double>(prefill.time.count()), static_cast<double>(prefill.rounding));
  EXPECT_NEAR(static_cast<double>((request.finished - request.first_token).count()),
              static_cast<double>((handover + decode.time).count()),
              static_cast<double>(decode.rounding + 1));
  // NVLink carries 450 GB/s a direction, so 132 MB take 0.29 ms at least.
  EXPECT_GT(handover, cache / Bandwidth::from_base(450'000'000'000));
}

// A trace with random arrivals; `part` of two, or all of it.
std::string write_trace(const std::string& name, std::optional<std::size_t> part) {
  const auto path = std::filesystem::path(::testing::TempDir()) / (name + ".jsonl");
  std::ofstream out(path);
  Rng rng(7, "two queues");
  std::int64_t now = 0;
  for (std::size_t k = 0; k < 60; ++k) {
    const auto input = 1 + static_cast<std::int64_t>(rng.below(3000));
    const auto output = 1 + static_cast<std::int64_t>(rng.below(60));
    if (!part || k % 2 == *part)
      out << fmt::format(
          "{{\"timestamp\": {}, \"input_length\": {}, \"output_length\": {}, \"hash_ids\": []}}\n",
          now, input, output);
    now += static_cast<std::int64_t>(rng.below(200));
  }
  return path.string();
}

testing::Served replay(const std::string& trace, int gpus) {
  return testing::run_server(
      testing::serving_config("serving/trace_azure_code.yaml",
                              {"workload.trace=" + trace, fmt::format("system.gpus.count={}", gpus),
                               "server.routing=round_robin", "measure.warm_up=0"}));
}

// Replicas without shared devices are separate queues: one of two behaves as it would alone with
// every other request.
TEST(Replicas, AreIndependentUnderRoundRobin) {
  const testing::Served both = replay(write_trace("both", std::nullopt), 2);
  for (const std::size_t part : {0U, 1U}) {
    const testing::Served alone = replay(write_trace(fmt::format("part{}", part), part), 1);
    ASSERT_EQ(alone.requests.size() * 2, both.requests.size());
    for (std::size_t k = 0; k < alone.requests.size(); ++k) {
      const RequestOutcome& one = alone.requests[k];
      const RequestOutcome& other = both.requests[2 * k + part];
      ASSERT_EQ(one.input_tokens, other.input_tokens);
      EXPECT_EQ(one.started - one.arrival, other.started - other.arrival) << k;
      EXPECT_EQ(one.first_token - one.arrival, other.first_token - other.arrival) << k;
      EXPECT_EQ(one.finished - one.arrival, other.finished - other.arrival) << k;
    }
  }
}

// A system without latencies, with all rates multiplied by a factor.
ServingConfig without_latency(std::int64_t times) {
  using namespace literals;
  RooflineGpuConfig gpu;
  gpu.peak_bf16.value = gpu.peak_int8.value = 1_TFLOPps * times;
  gpu.efficiency.value = 1.0;
  DramConfig hbm = testing::dram(1_GiB, 100_GBps * times);
  hbm.latency.value = Duration{};
  ServingConfig c;
  c.scenario.system = testing::small_system();
  c.scenario.system.gpu = testing::fixed<ComputeUnit>(gpu);
  c.scenario.system.tiers["hbm"].memory = testing::fixed<MemoryTier>(hbm);
  c.scenario.model = testing::small_step().model;
  c.scenario.method.method = testing::method("{name: dense, kv_tier: near}");
  c.scenario.placement = {.near = "hbm", .far = "pool"};
  c.workload.requests = 40;
  c.workload.arrivals = ArrivalConfig{.process = ArrivalProcess::at_once};
  c.workload.input =
      LengthConfig{.distribution = LengthDistribution::uniform, .min = 1, .max = 500};
  c.workload.output =
      LengthConfig{.distribution = LengthDistribution::uniform, .min = 1, .max = 100};
  c.server.scheduler = {.max_sequences = 8, .max_batched_tokens = 128};
  return c;
}

// Each operation of an iteration is rounded up to 1 ps; 10 operations a layer and 4 more are an
// upper bound.
TEST(Scaling, TwiceTheRatesHalveEveryTime) {
  const testing::Served slow = testing::run_server(without_latency(1));
  const testing::Served fast = testing::run_server(without_latency(2));
  const auto rounding = static_cast<std::int64_t>(slow.iterations.size()) * (4 * 10 + 4);
  ASSERT_EQ(slow.iterations.size(), fast.iterations.size());
  ASSERT_GT(slow.end.time_since_epoch(), 1000 * Duration(rounding));
  for (std::size_t k = 0; k < slow.requests.size(); ++k) {
    const Duration one = slow.requests[k].finished - slow.requests[k].arrival;
    const Duration other = fast.requests[k].finished - fast.requests[k].arrival;
    EXPECT_LE(one, 2 * other);
    EXPECT_GE(one, 2 * other - Duration(2 * rounding));
  }
}

}  // namespace
}  // namespace tiersim::serving_batch_test
