// Speculative decoding against its closed form, against published figures, and on a server.
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/step/simulate.hpp"
#include "tests/theory/serving_run.hpp"
#include "workloads/llm/speculation.hpp"
#include "workloads/llm/step_builder.hpp"

namespace tiersim::speculation_theory_test {
namespace {

using Settings = std::vector<std::string>;

ScenarioConfig scenario(const std::string& file, const Settings& set) {
  Diagnostics diagnostics;
  const Document document = load_document(
      testing::configs() / "scenarios/speculation" / file,
      {.overrides = set, .config_root = testing::configs(), .importers = make_all_importers()},
      diagnostics);
  auto config = read<ScenarioConfig>(document, "scenario", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return config;
}

RunRecord run(const ScenarioConfig& config) {
  auto sim = simulate(config, Evaluation::times);
  EXPECT_TRUE(sim) << sim.error();
  return sim->record;
}

double value(const RunRecord& record, const std::string& metric) {
  return record.metrics.at(metric).value;
}

// Leviathan et al. 2023 (arXiv 2211.17192), theorem 3.8: a step of k drafts and one verification
// takes k c + 1 times a decode step, c being the draft's time over the model's, and gives
// (1 - a^(k+1)) / (1 - a) tokens. The verification reads the same weights as a decode step; beside
// them it moves k more rows of activations, cache and logits, which for one sequence of 64
// positions are 0.2 % of the bytes. The data sheet's kernels have no other cost of rows.
TEST(Speculation, HasTheSpeedUpOfTheClosedForm) {
  const Settings base{"system.gpu.calibration=none", "step.batch=1", "step.context=64",
                      "execution=~"};
  const auto with = [&](const Settings& more) {
    Settings all = base;
    all.insert(all.end(), more.begin(), more.end());
    return run(scenario("llama3_70b_h100_draft_8b.yaml", all));
  };
  const double target = value(with({"speculation=~"}), "step_time_s");
  const double draft =
      value(with({"speculation=~", "model.base=models/llama3_8b.yaml"}), "step_time_s");
  const double c = draft / target;
  EXPECT_GT(c, 0.05);
  EXPECT_LT(c, 0.5);
  for (const double a : {0.5, 0.8, 0.9})
    for (const int k : {1, 2, 4, 8}) {
      const double closed = (1 - std::pow(a, k + 1)) / ((1 - a) * (k * c + 1));
      const RunRecord record = with({fmt::format("speculation.tokens={}", k),
                                     fmt::format("speculation.acceptance.rate={}", a)});
      EXPECT_NEAR(value(record, "speculation_speedup") / closed, 1, 0.01) << a << ' ' << k;
      EXPECT_NEAR(value(record, "draft_time_s") / (k * draft), 1, 0.01) << k;
    }
}

// Tokens a step change how results are counted, not the step.
TEST(Speculation, DividesTheStepByItsTokens) {
  const RunRecord record = run(scenario("llama3_70b_h100_draft_8b.yaml", {}));
  const double tokens = value(record, "acceptance_length");
  EXPECT_NEAR(tokens, 1 + 0.8 + 0.64 + 0.512, 1e-12);
  const double step = value(record, "step_time_s");
  EXPECT_NEAR(value(record, "tpot_s"), step / tokens, 1e-15);
  EXPECT_NEAR(value(record, "throughput_tokens_per_s"), 2 * 16 * tokens / step, 1e-6);
  const RunRecord plain = run(scenario("llama3_70b_h100_draft_8b.yaml", {"speculation=~"}));
  EXPECT_NEAR(value(record, "speculation_speedup"),
              value(plain, "tpot_s") / value(record, "tpot_s"), 1e-12);
}

// No drafts at any batch: nothing of a draft is held, and every result is the same.
TEST(Speculation, WithoutDraftsIsTheSameRecord) {
  RunRecord none = run(scenario("llama3_70b_h100_draft_8b.yaml", {"speculation.tokens=0"}));
  const RunRecord plain = run(scenario("llama3_70b_h100_draft_8b.yaml", {"speculation=~"}));
  for (const char* metric : {"acceptance_length", "draft_time_s", "speculation_speedup"})
    none.metrics.erase(metric);
  EXPECT_EQ(pretty_results(none), pretty_results(plain));
}

// It stops paying where products are bound by arithmetic: the speed-up falls with the batch.
TEST(Speculation, PaysLessAsTheBatchGrows) {
  double before = 10;
  for (const int batch : {1, 16, 64, 256}) {
    const RunRecord record =
        run(scenario("llama3_70b_h100_draft_8b.yaml", {fmt::format("step.batch={}", batch)}));
    EXPECT_LT(value(record, "speculation_speedup"), before) << batch;
    before = value(record, "speculation_speedup");
  }
  EXPECT_LT(before, 1);
}

// vLLM issue 20780 (2025-07-10): one sequence of Llama-3.1 8B took 7.07 ms a token, and these times
// with EAGLE heads of the stated mean acceptance length. The GPU is not stated; an H100 is
// simulated. Of EAGLE the speed-ups are within 12 %.
struct Published {
  int drafts;
  double length;
  double tpot_ms;
};
double over_published(const Published& p, const Settings& draft) {
  Settings set{fmt::format("speculation.tokens={}", p.drafts),
               fmt::format("speculation.acceptance.mean_length={}", p.length)};
  set.insert(set.end(), draft.begin(), draft.end());
  const double simulated =
      value(run(scenario("llama3_8b_h100_eagle.yaml", set)), "speculation_speedup");
  return simulated / (7.07 / p.tpot_ms);
}

TEST(Speculation, IsBesidePublishedSpeedUps) {
  for (const Published& p : {Published{2, 2.1, 4.37},
                             {3, 2.29, 4.29},
                             {4, 2.39, 4.48},
                             {5, 2.43, 4.71},
                             {6, 2.45, 4.94},
                             {7, 2.47, 5.2}})
    EXPECT_NEAR(over_published(p, {}), 1, 0.12) << p.drafts;
}

// A step of EAGLE-3 took 2.36 * 4.32 ms with 2 drafts and 3.08 * 4.05 ms with 4: 1.14 ms for each
// draft, while its kernels, with a head of 32000 entries, take .34 ms here. Without the CPU's time
// the speed-ups are 1.30 to 1.56 times the published ones. With 1.14 ms of dispatch, of these two
// rows alone, those with 5 to 7 drafts, which it has not seen, are within 5 %: 2.5 % above, 0.7 %
// and 4.5 % below.
TEST(Speculation, ATimeOfDispatchGivesTheSpeedUpsOfEagle3ItHasNotSeen) {
  const Settings head{"speculation.draft.inputs=4", "speculation.draft.vocabulary=32000"};
  Settings dispatched = head;
  dispatched.push_back("speculation.draft.dispatch=1140 us");
  for (const Published& p : {Published{2, 2.36, 4.32}, {4, 3.08, 4.05}, {7, 3.54, 4.29}}) {
    EXPECT_GT(over_published(p, head), 1.25) << p.drafts;
    EXPECT_LT(over_published(p, head), 1.6) << p.drafts;
  }
  for (const Published& p : {Published{5, 3.32, 4.13}, {6, 3.46, 4.2}, {7, 3.54, 4.29}})
    EXPECT_NEAR(over_published(p, dispatched), 1, 0.05) << p.drafts;
}

// A pass takes the longer of its kernels and its dispatch.
TEST(Speculation, TheGpuWorksBesideTheDispatchOfAPass) {
  const auto with = [](const std::string& dispatch) {
    return value(run(scenario("llama3_8b_h100_eagle.yaml",
                              {"speculation.tokens=3", "speculation.draft.dispatch=" + dispatch})),
                 "draft_time_s");
  };
  const double kernels =
      value(run(scenario("llama3_8b_h100_eagle.yaml", {"speculation.tokens=3"})), "draft_time_s");
  EXPECT_EQ(with("0 ns"), kernels);
  EXPECT_EQ(with("1 us"), kernels);
  EXPECT_NEAR(with("5 ms"), 15e-3, 1e-9);
}

// DeepSeek-V3 (arXiv 2412.19437, section 5.4.3): 85 to 90 % of second tokens accepted, and 1.8
// times the tokens a second. The report states neither batch nor GPUs; at batches from 64 on, with
// an expert for every token, the simulated gain is below it, as the verification costs more than a
// decode step.
TEST(Speculation, OfDeepSeekV3IsBelowItsTokens) {
  for (const int batch : {64, 128, 200}) {
    const double speedup =
        value(run(scenario("deepseek_v3_h200_mtp.yaml", {fmt::format("step.batch={}", batch)})),
              "speculation_speedup");
    EXPECT_GT(speedup, 1.4) << batch;
    EXPECT_LT(speedup, 1.8) << batch;
  }
}

// DeepSeek-R1 with one sequence on eight B200s, without drafts and with one to five
// (TensorRT-LLM's tech_blog/blog1, table of autoregressive MTP layers). The published time of a
// step is its tokens over the tokens a second. Nothing was fitted to these times. Without drafts
// the simulated step is within 1 %, and with drafts it is at most 4.5 % longer, so that speed-ups
// are up to 5.1 % smaller than published. Three drafts are the fastest in both.
TEST(Speculation, StepsOfDeepSeekR1TakeTheTimeThatNvidiaMeasured) {
  const auto record = [](const std::string& setting) {
    return run(scenario("deepseek_r1_b200_mtp.yaml", {setting}));
  };
  EXPECT_NEAR(value(record("speculation=null"), "step_time_s") / (1 / 111.0), 1, 0.01);
  const std::array tokens{1.92, 2.58, 2.82, 2.99, 3.01};
  const std::array a_second{198.0, 250.0, 253.0, 245.0, 239.0};
  std::vector<double> speedups;
  for (int drafts = 1; drafts <= 5; ++drafts) {
    const auto i = static_cast<std::size_t>(drafts - 1);
    const auto of = record(fmt::format("speculation.tokens={}", drafts));
    EXPECT_NEAR(value(of, "step_time_s") / (tokens.at(i) / a_second.at(i)), 1, 0.045) << drafts;
    speedups.push_back(value(of, "speculation_speedup"));
    EXPECT_NEAR(speedups.back() / (a_second.at(i) / 111.0), 1, 0.055) << drafts;
  }
  EXPECT_EQ(std::ranges::max_element(speedups) - speedups.begin(), 2);
}

// The same source: shared experts on a second stream raise 67 tokens a second to 73. As far as
// these two are rounded, that is 1.02 to 1.43 ms of a step. The model saves 1.5 ms, which is a
// known miss. It cannot save more than the shared experts take by themselves.
TEST(SharedExperts, BesideRoutedOnesSaveAtMostTheirOwnTime) {
  const auto step = [](Settings set) {
    set.push_back("speculation=null");
    return value(run(scenario("deepseek_r1_b200_mtp.yaml", set)), "step_time_s");
  };
  const double after = step({"execution.shared_experts=after"});
  const double beside = step({});
  const double none = step({"execution.shared_experts=after", "model.moe.shared_experts=0"});
  EXPECT_GT(after - beside, 1.02e-3);
  EXPECT_LT(after - beside, after - none);
}

// Each of the 852 kernels and all-reduces of a step begins earlier by the stated time. A kernel
// never begins before the previous one has ended, so that it saves its own launch at most.
TEST(DependentLaunch, BringsEachKernelForwardByItsLaunchAtMost) {
  const auto step = [](const std::string& earlier) {
    Settings set;
    if (!earlier.empty())
      set.push_back("execution.dependent_launch={value: " + earlier +
                    ", class: assumed, source: a test}");
    return value(run(scenario("deepseek_r1_b200_mtp.yaml", set)), "step_time_s");
  };
  const double plain = step("");
  EXPECT_EQ(step("0 ns"), plain);
  EXPECT_NEAR(plain - step("570 ns"), 852 * 570e-9, 1e-10);
  EXPECT_NEAR(plain - step("1 us"), 852e-6, 1e-10);
  EXPECT_LT(plain - step("100 us"), 0.9 * plain);
  EXPECT_GT(plain - step("100 us"), 852 * 2e-6);
}

// Mean acceptance lengths with eight drafts (SemiAnalysisAI/InferenceX 843c625, Apache-2.0), and
// with five (TensorRT-LLM's tech_blog/blog1), which were not fitted: those with one to four, or
// three, were. The files state the largest error.
TEST(AcceptanceFiles, GiveLengthsThatTheyWereNotFittedTo) {
  const std::map<std::string, double> measured{{"mtp_deepseek_r1", 3.01},
                                               {"mtp_deepseek_v4_pro", 2.58},
                                               {"mtp_deepseek_v4_pro_no_thinking", 3.11},
                                               {"mtp_glm_5_2", 4.06},
                                               {"mtp_qwen3_5_397b", 5.21},
                                               {"mtp_qwen3_5_397b_no_thinking", 4.71},
                                               {"eagle3_kimi_k25", 3.77},
                                               {"eagle3_kimi_k25_no_thinking", 3.51},
                                               {"eagle3_minimax_m3", 3.74},
                                               {"eagle3_minimax_m3_no_thinking", 4.06},
                                               {"eagle3_gqa_minimax_m3", 3.51},
                                               {"eagle3_gqa_minimax_m3_no_thinking", 3.93}};
  std::size_t files = 0;
  for (const std::string& path : testing::shipped("speculation")) {
    Diagnostics diagnostics;
    const Document document = load_document(testing::configs() / path, {}, diagnostics);
    auto config = read<SpeculationConfig>(document, "speculation", diagnostics);
    ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();
    const std::string name = std::filesystem::path(path).stem().string();
    config.tokens = name == "mtp_deepseek_r1" ? 5 : 8;
    EXPECT_NEAR(config.law().mean_tokens(config.tokens) / measured.at(name), 1, 0.075) << path;
    ++files;
  }
  EXPECT_EQ(files, measured.size());
}

const Settings kBurst{"workload.requests=200",
                      "workload.arrivals={process: at_once}",
                      "workload.input={distribution: fixed, tokens: 100}",
                      "workload.output={distribution: fixed, tokens: 200}",
                      "measure.warm_up=0",
                      "speculation.tokens_by_batch=~",
                      "speculation.tokens=3",
                      "speculation.acceptance.mean_length=~",
                      "speculation.acceptance.rate=0.7"};

ServingConfig server(Settings more) {
  more.insert(more.begin(), kBurst.begin(), kBurst.end());
  return testing::serving_config("serving/llama3_8b_h100_eagle3.yaml", more);
}

// The standard error of the mean of 200 requests of 79 steps is below 0.01, and the last step of
// each of them is cut short by 1.3 tokens of 200 at most.
TEST(SpeculativeServer, GivesTheMeanTokensOfTheLaw) {
  const auto record = serve(server({}));
  ASSERT_TRUE(record) << record.error();
  const double law = 1 + 0.7 + 0.49 + 0.343;
  EXPECT_NEAR(value(*record, "acceptance_length") / law, 1, 0.015);
}

TEST(SpeculativeServer, WithoutDraftsIsTheServerWithoutSpeculation) {
  auto served = serve(server({"speculation.tokens=0"}));
  const auto plain = serve(server({"speculation=~"}));
  ASSERT_TRUE(served && plain);
  RunRecord none = *std::move(served);
  none.metrics.erase("acceptance_length");
  EXPECT_EQ(pretty_results(none), pretty_results(*plain));
}

// Sequences one after another on the data sheet's kernels without a CPU: a step of k drafts takes
// the draft's passes and one of the model, and the gain is that of theorem 3.8 of Leviathan et al.
// (arXiv 2211.17192) with the acceptance as drawn. A draft is a model of its own here, so that its
// time is that of a server which has only it.
TEST(SpeculativeServer, HasTheSpeedUpOfTheClosedFormAtLowLoad) {
  const auto alone = [](Settings more) {
    more.insert(more.begin(),
                {"workload.requests=20",
                 "workload.arrivals={process: closed_loop, users: 1, think_time: 0 s}",
                 "system.base=systems/h200_nvlink.yaml", "system.gpus.count=1",
                 "workload.input={distribution: fixed, tokens: 64}",
                 "workload.output={distribution: fixed, tokens: 401}", "measure.warm_up=0",
                 "server.base=servers/no_host.yaml", "execution=~", "system.gpu.calibration=none"});
    const auto record = serve(testing::serving_config("serving/llama3_8b_h100_poisson.yaml", more));
    EXPECT_TRUE(record) << record.error();
    return *record;
  };
  const std::string target = "model.base=models/llama3_70b.yaml";
  const std::string small = "step.weight_type=fp8";
  const double plain = value(alone({target, small}), "tpot_s.mean");
  const double c = value(alone({small}), "tpot_s.mean") / plain;
  for (const int k : {1, 3}) {
    const RunRecord record =
        alone({target, small,
               fmt::format(
                   "speculation={{draft: {{kind: model, model: {{base: models/llama3_8b.yaml}}}}, "
                   "tokens: {}, acceptance: {{rate: 0.8}}}}",
                   k)});
    const double tokens = value(record, "acceptance_length");
    EXPECT_NEAR(value(record, "speculation_speedup") / (tokens / (k * c + 1)), 1, 0.015) << k;
    EXPECT_NEAR(value(record, "speculation_speedup"), plain / value(record, "tpot_s.mean"), 1e-9);
    // Accepted are all tokens of a step but the verification's own.
    EXPECT_NEAR(value(record, "draft_acceptance"), (tokens - 1) / k, 1e-9) << k;
  }
}

TEST(SpeculativeServer, DoesNotDependOnThreads) {
  const Settings two{"system.gpus.count=2"};
  const auto one = serve(server(two), nullptr, 1);
  const auto four = serve(server(two), nullptr, 4);
  ASSERT_TRUE(one && four);
  EXPECT_EQ(pretty_results(*one), pretty_results(*four));
}

// Every request ends with its stated length, and blocks are neither lost nor made, with a pool that
// preempts: the record checks tokens, and the pool its blocks.
TEST(SpeculativeServer, EndsEveryAnswerAtItsLength) {
  for (const std::string preemption : {"recompute", "swap"}) {
    const testing::Served run =
        testing::run_server(server({"server.kv.share=0.02", "server.kv.preemption=" + preemption}));
    std::int64_t preemptions = 0;
    for (const RequestOutcome& request : run.requests) {
      EXPECT_EQ(request.output_tokens, 200);
      preemptions += request.preemptions;
    }
    EXPECT_GT(preemptions, 0) << preemption;
    EXPECT_EQ(run.iterations.back().blocks_used, 0);
  }
}

// One sequence: each iteration takes the time of the scenario's step, and of the prompt's first. A
// pass takes the longer of its kernels and its dispatch in both.
void expect_times_of_steps(const Settings& more) {
  Settings one{"workload.requests=1", "server.base=servers/no_host.yaml",
               "workload.output={distribution: fixed, tokens: 2}", "speculation.acceptance.rate=0"};
  one.insert(one.end(), more.begin(), more.end());
  const ServingConfig config = server(one);
  const testing::Served run = testing::run_server(config);
  ASSERT_EQ(run.iterations.size(), 2U);
  const System system = build_stage_system(config.scenario);
  AttentionContext context = context_of(config.scenario, system);
  context.step.batch = 1;
  context.step.context = 101;
  context.host_works = false;
  const StepGraph graph = build_step(context, *config.scenario.method.method, system.tier_names());
  const Duration step = execute(graph, system, system.plan(graph)).time;
  const Duration served = run.iterations[1].end - run.iterations[1].gpu;
  EXPECT_NEAR(to_seconds(served) / to_seconds(step), 1, 1e-6);
}

const Settings kTree{
    "speculation.draft.tree.widths=[3, 2, 1]", "speculation.tokens=9",
    "speculation.acceptance.rate=~",
    "speculation.acceptance.by_depth=[{ranks: [0.6, 0.2, 0.1]}, {ranks: [0.5, 0.1]}]"};

TEST(SpeculativeServer, TakesTheTimesOfSteps) {
  expect_times_of_steps({});
  expect_times_of_steps({"speculation.draft.dispatch=1 us"});
  expect_times_of_steps({"speculation.draft.dispatch=1140 us"});
  expect_times_of_steps(kTree);
}

// Three passes of 5 ms, which are longer than their kernels.
TEST(SpeculativeServer, WaitsForTheDispatchOfEachPass) {
  const auto gpu = [](const std::string& dispatch) {
    const testing::Served run = testing::run_server(
        server({"workload.requests=1", "server.base=servers/no_host.yaml",
                "workload.output={distribution: fixed, tokens: 2}", "speculation.acceptance.rate=0",
                "speculation.draft.dispatch=" + dispatch}));
    return to_seconds(run.iterations[1].end - run.iterations[1].gpu);
  };
  EXPECT_NEAR(gpu("5 ms") - gpu("4 ms"), 3e-3, 1e-9);
}

// The gain falls as the passes wait for the CPU.
TEST(SpeculativeServer, GainsLessWhereTheCpuDispatchesThePasses) {
  const auto speedup = [](const Settings& set) {
    const auto record = serve(server(set));
    EXPECT_TRUE(record) << record.error();
    return value(*record, "speculation_speedup");
  };
  EXPECT_GT(speedup({}), 1.05 * speedup({"speculation.draft.dispatch=1140 us"}));
}

// 1 + the sum of the products along the paths of the nine likeliest of 15 nodes, depth by depth.
constexpr double kTreeTokens = 1 + (0.6 + 0.2 + 0.1) + (0.3 + 0.06 + 0.1 + 0.05) + (0.15 + 0.05);

TEST(Speculation, OfATreeGivesTheTokensOfItsPaths) {
  Settings set{"speculation.acceptance.mean_length=~"};
  set.insert(set.end(), kTree.begin(), kTree.end());
  std::erase(set, "speculation.acceptance.rate=~");
  const RunRecord record = run(scenario("llama3_8b_h100_eagle.yaml", set));
  EXPECT_NEAR(value(record, "acceptance_length"), kTreeTokens, 1e-12);
}

TEST(SpeculativeServer, GivesTheMeanTokensOfATree) {
  const auto record = serve(server(kTree));
  ASSERT_TRUE(record) << record.error();
  EXPECT_NEAR(value(*record, "acceptance_length") / kTreeTokens, 1, 0.015);
}

// A chain is the tree of one child each, in a step and on a server.
TEST(Speculation, OfATreeWithoutBranchesIsTheSameRecord) {
  const std::string narrow = "speculation.draft.tree.widths=[1, 1, 1, 1, 1]";
  EXPECT_EQ(pretty_results(run(scenario("llama3_8b_h100_eagle.yaml", {narrow}))),
            pretty_results(run(scenario("llama3_8b_h100_eagle.yaml", {}))));
  const auto tree = serve(server({narrow}));
  const auto chain = serve(server({}));
  ASSERT_TRUE(tree && chain);
  EXPECT_EQ(pretty_results(*tree), pretty_results(*chain));
}

}  // namespace
}  // namespace tiersim::speculation_theory_test
