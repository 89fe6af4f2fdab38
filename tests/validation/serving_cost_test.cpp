// The cost of an iteration against the engine's run of the same operations and against single
// steps: for every shipped serving file, and for every shipped scenario of one step that a server
// could run.
#include <gtest/gtest.h>

#include "sim/serving/iteration_cost.hpp"
#include "sim/step/executor.hpp"
#include "tests/support/shipped.hpp"
#include "workloads/llm/step_builder.hpp"

namespace tiersim::serving_cost_test {
namespace {

ServingConfig serving(const std::string& path) {
  Diagnostics diagnostics;
  const Document document = load_document(
      testing::configs() / path,
      {.config_root = testing::configs(), .importers = make_all_importers()}, diagnostics);
  auto config = read<ServingConfig>(document, "serving", diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.list()) ADD_FAILURE() << diagnostic.text();
  return config;
}

ServingConfig of_step(const std::string& path) {
  ServingConfig config;
  config.scenario = testing::scenario(path);
  return config;
}

// The passes of a draft have a cost of their own (tests of speculation).
ServingConfig without_drafts(ServingConfig config) {
  config.scenario.speculation.reset();
  return config;
}

// One iteration of a configuration, by its cost and by events.
class Costs {
 public:
  explicit Costs(ServingConfig config)
      : config_(without_drafts(std::move(config))),
        system_(build_stage_system(config_.scenario)),
        replica_(context_of(config_.scenario, system_)),
        cost_(config_, system_) {
    replica_.host_works = false;
  }

  bool encoder() const { return config_.scenario.model.encoder.has_value(); }
  bool executed() const { return cost_.executed(); }
  bool guesses() const { return config_.scenario.step.overlap == Overlap::prefetch_screening; }
  Duration cost(const IterationBatch& batch) { return cost_.of(batch).time(); }

  Duration events(const IterationWork& work) {
    return run(
        build_iteration(replica_, *config_.scenario.method.method, work, system_.tier_names()));
  }
  Duration step(StepKind kind, std::int64_t batch, std::int64_t context, std::int64_t encoder) {
    AttentionContext c = replica_;
    c.step.kind = kind;
    c.step.batch = batch;
    c.step.context = context;
    c.step.encoder_context = encoder;
    c.handover.reset();
    return run(build_step(c, *config_.scenario.method.method, system_.tier_names()));
  }
  std::int64_t operations() const { return operations_; }

 private:
  Duration run(const StepGraph& graph) {
    operations_ = static_cast<std::int64_t>(graph.ops.size());
    return execute(graph, system_, system_.plan(graph)).time;
  }

  ServingConfig config_;
  System system_;
  AttentionContext replica_;
  IterationCost cost_;
  std::int64_t operations_ = 0;
};

// One picosecond an operation: each is rounded up once in either.
void expect_close(Duration a, Duration b, std::int64_t operations) {
  EXPECT_LE(std::abs((a - b).count()), operations) << a.count() << " ps, " << b.count() << " ps";
}

void expect_costs_of_events(Costs& costs) {
  for (const auto& [batch, context] : {std::pair{1, 16}, {5, 640}, {8, 1024}}) {
    const std::int64_t encoder = costs.encoder() ? 128 : 0;
    const Duration cost = costs.cost({.decodes = batch,
                                      .positions = batch * context,
                                      .encoded = batch * encoder,
                                      .logits = batch});
    if (!costs.guesses())
      expect_close(
          cost,
          costs.events(
              {.decodes = batch, .context = context, .logits = batch, .encoder_context = encoder}),
          costs.operations());
    // A batch of equal sequences is a step.
    expect_close(cost, costs.step(StepKind::decode, batch, context, encoder), costs.operations());
  }
}

// The padding of a captured graph costs its rows of products, and no attention.
void expect_costs_of_padding(Costs& costs) {
  if (costs.encoder() || costs.guesses()) return;
  const auto cost = [&](std::int64_t batch, std::int64_t padding) {
    return costs.cost(
        {.decodes = batch, .positions = batch * 640, .padding = padding, .logits = batch});
  };
  const Duration padded = cost(5, 3);
  expect_close(padded, costs.events({.decodes = 5, .context = 640, .padding = 3, .logits = 5}),
               costs.operations());
  // The fits of expert kernels fall by some parts in ten thousand where few tokens become more.
  EXPECT_GE(padded + padded / 1000, cost(5, 0));
  EXPECT_LE(padded, cost(8, 0));
}

void expect_costs_of_prompts(Costs& costs) {
  if (costs.encoder()) {
    const Duration cost =
        costs.cost({.encodes = 3, .encode_positions = 3 * 200, .encode_outputs = 3});
    expect_close(cost, costs.step(StepKind::prefill, 3, 1, 200), costs.operations());
    return;
  }
  expect_close(costs.cost({.chunks = {{300, 0}}, .logits = 1}),
               costs.step(StepKind::prefill, 1, 300, 0), costs.operations());
  const std::vector<PromptChunk> chunks{{64, 192}, {100, 0}};
  expect_close(costs.cost({.decodes = 4, .positions = 4 * 500, .chunks = chunks, .logits = 5}),
               costs.events({.decodes = 4, .context = 500, .chunks = chunks, .logits = 5}),
               costs.operations());
}

// Between points of the grid: as good as what a method rounds, a page or a tile of a context.
void expect_smooth_in_context(Costs& costs) {
  if (costs.guesses()) return;
  const std::int64_t encoder = costs.encoder() ? 128 : 0;
  for (const std::int64_t context : {1100, 5000, 20'000}) {
    const double cost = to_seconds(
        costs.cost({.decodes = 4, .positions = 4 * context, .encoded = 4 * encoder, .logits = 4}));
    const double events = to_seconds(
        costs.events({.decodes = 4, .context = context, .logits = 4, .encoder_context = encoder}));
    EXPECT_NEAR(cost / events, 1, 2e-3) << context;
  }
}

class ShippedServingCost : public ::testing::TestWithParam<std::string> {};

TEST_P(ShippedServingCost, IsThatOfTheSameOperationsAsEvents) {
  Costs costs(serving(GetParam()));
  expect_costs_of_events(costs);
  expect_costs_of_padding(costs);
  expect_costs_of_prompts(costs);
  expect_smooth_in_context(costs);
}

// "serving/a/b.yaml" as "a_b": files of different folders may have one name.
std::string name_of(const ::testing::TestParamInfo<std::string>& test) {
  std::string out = std::filesystem::path(test.param).replace_extension().string();
  std::ranges::replace_if(
      out, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, ShippedServingCost, ::testing::ValuesIn(testing::shipped("serving")),
                         name_of);

// Steps that a server can run: all of the operations, on one stage, one batch.
bool is_served(const ScenarioConfig& c) {
  return c.parallel.pipeline == 1 && c.step.region == Region::step &&
         c.step.overlap != Overlap::micro_batches;
}

class ShippedStepCost : public ::testing::TestWithParam<const char*> {};

TEST_P(ShippedStepCost, IsThatOfTheSameOperationsAsEvents) {
  int served = 0;
  for (const std::string& path : testing::shipped(std::string("scenarios/") + GetParam())) {
    SCOPED_TRACE(path);
    ServingConfig config = of_step(path);
    if (!is_served(config.scenario)) continue;
    ++served;
    Costs costs(std::move(config));
    expect_costs_of_events(costs);
    expect_costs_of_prompts(costs);
  }
  EXPECT_GT(served, 0);
}

INSTANTIATE_TEST_SUITE_P(All, ShippedStepCost,
                         ::testing::Values("maple", "methods", "models", "tpla"),
                         [](const auto& of) { return std::string(of.param); });

TEST(IterationCost, KnowsWhetherOperationsOverlap) {
  EXPECT_FALSE(Costs(of_step("scenarios/methods/llama3_8b_dense_hbm.yaml")).executed());
  EXPECT_TRUE(Costs(of_step("scenarios/methods/llama3_8b_dense_pool.yaml")).executed());
}

// Windows beside full attention, chunks beside it with experts in every other layer, layers that
// share an indexer, layers without one, and rows of several positions.
TEST(IterationCost, OfLayersOfSeveralTypesIsTheSumOfAll) {
  for (const auto& [model, method] : {std::pair("gpt_oss_20b", "dense, kv_tier: near"),
                                      {"gemma3_27b", "dense, kv_tier: near"},
                                      {"llama4_maverick", "dense, kv_tier: near"},
                                      {"glm52", "dsa"},
                                      {"minimax_m3", "msa"},
                                      {"deepseek_v4_flash", "csa"}}) {
    SCOPED_TRACE(model);
    ServingConfig config;
    Diagnostics diagnostics;
    config.scenario = testing::try_scenario("scenarios/methods/llama3_8b_dense_hbm.yaml",
                                            {std::string("model.base=models/") + model + ".yaml",
                                             std::string("method={name: ") + method + "}"},
                                            diagnostics);
    ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();
    Costs costs(std::move(config));
    EXPECT_FALSE(costs.executed());
    expect_costs_of_events(costs);
    expect_costs_of_padding(costs);
    expect_costs_of_prompts(costs);
    expect_smooth_in_context(costs);
  }
}

}  // namespace
}  // namespace tiersim::serving_cost_test
