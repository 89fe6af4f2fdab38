// Speculative decoding on small models: the law of acceptance in closed form and as drawn, and the
// bytes and FLOPs of a step by hand.
#include "workloads/llm/speculation.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/workloads/small_step.hpp"
#include "workloads/llm/speculative_step.hpp"

namespace tiersim::speculation_test {
namespace {

using namespace literals;
using testing::kNear;

AcceptanceLaw geometric(double rate, std::int64_t most) {
  return {{.rate = Sourced<double>{.value = rate}}, most, most};
}

// (1 - 0.5^4) / (1 - 0.5) = 1.875.
TEST(AcceptanceLaw, HasTheMeanOfAGeometricLaw) {
  EXPECT_EQ(geometric(0.5, 3).mean_tokens(3), 1.875);
  EXPECT_EQ(geometric(0.5, 3).mean_tokens(0), 1);
  EXPECT_EQ(geometric(1, 3).mean_tokens(3), 4);
  EXPECT_EQ(geometric(0, 3).mean_tokens(3), 1);
}

// 1 + 0.5 + 0.5 * 0.25 + 0.5 * 0.25 * 0.25.
TEST(AcceptanceLaw, MultipliesTheProbabilitiesOfThePositions) {
  const AcceptanceLaw law({.by_position = {{.value = 0.5}, {.value = 0.25}}}, 3, 3);
  EXPECT_EQ(law.mean_tokens(3), 1 + 0.5 + 0.125 + 0.03125);
}

TEST(AcceptanceLaw, FindsTheRateOfAMeanLength) {
  EXPECT_NEAR(rate_of_length(1.875, 3), 0.5, 1e-15);
  const AcceptanceLaw law({.mean_length = Sourced<double>{.value = 1.875}}, 3, 5);
  EXPECT_NEAR(law.mean_tokens(3), 1.875, 1e-14);
  EXPECT_NEAR(law.mean_tokens(5), 1.96875, 1e-14);
}

// The standard deviation of a step's tokens is below 1.2, so that four standard errors of the mean
// of 40 000 steps are below 0.024.
TEST(AcceptanceLaw, DrawsTheMean) {
  const AcceptanceLaw law = geometric(0.7, 4);
  constexpr std::int64_t kRequests = 200;
  constexpr std::int64_t kSteps = 200;
  std::int64_t sum = 0;
  for (std::int64_t request = 0; request < kRequests; ++request)
    for (std::int64_t step = 0; step < kSteps; ++step) sum += 1 + law.accepted(7, request, step, 4);
  EXPECT_NEAR(static_cast<double>(sum) / (kRequests * kSteps), law.mean_tokens(4), 0.024);
}

TEST(AcceptanceLaw, DrawsAPureFunctionOfItsArguments) {
  const AcceptanceLaw law = geometric(0.7, 4);
  const std::int64_t first = law.accepted(7, 3, 5, 4);
  for (std::int64_t i = 0; i < 100; ++i) {
    law.accepted(7, i, 5, 4);
    // Fewer drafts are the first ones of more.
    EXPECT_EQ(law.accepted(7, i, 9, 2), std::min<std::int64_t>(2, law.accepted(7, i, 9, 4)));
  }
  EXPECT_EQ(law.accepted(7, 3, 5, 4), first);
}

TEST(Speculation, ChoosesTheDraftsByTheBatch) {
  SpeculationConfig config{.tokens = 4};
  config.tokens_by_batch = {{8, 2}, {32, 0}};
  EXPECT_EQ(config.tokens_at(1), 4);
  EXPECT_EQ(config.tokens_at(7), 4);
  EXPECT_EQ(config.tokens_at(8), 2);
  EXPECT_EQ(config.tokens_at(31), 2);
  EXPECT_EQ(config.tokens_at(500), 0);
  EXPECT_EQ(config.most_tokens(), 4);
}

SpeculationConfig of_kind(DraftKind kind, std::int64_t tokens) {
  SpeculationConfig config{.tokens = tokens};
  config.draft.kind = kDraftKindNames[static_cast<std::size_t>(kind)];
  config.acceptance.rate = Sourced<double>{.value = 0.5};
  return config;
}

StepGraph step(const SpeculationConfig& config,
               const std::string& method = "{name: dense, kv_tier: near}",
               AttentionContext context = testing::small_step()) {
  context.speculation = &config;
  context.drafts = config.most_tokens();
  return testing::build(method, context);
}

Bytes moved(const StepGraph& graph, Direction direction, TensorClass tensor_class,
            std::size_t first = 0) {
  Bytes sum;
  for (std::size_t op = first; op < graph.ops.size(); ++op)
    for (const Access& access : graph.ops[op].accesses)
      if (access.direction == direction && access.tensor_class == tensor_class)
        sum += access.payload;
  return sum;
}

Flops attention_flops(const StepGraph& graph) {
  Flops sum;
  for (const Op& op : graph.ops)
    if (op.phase == Phase::attention) sum += op.flops;
  return sum;
}

Bytes held(const StepGraph& graph, TensorClass tensor_class) {
  Bytes sum;
  for (const Tensor& tensor : graph.tensors)
    if (tensor.tensor_class == tensor_class) sum += tensor.size;
  return sum;
}

// Four layers of 4 (sequence, KV head) pairs with rows of 16 B: without drafts 64 rows are read and
// one is written, with 3 drafts 67 and 4. Four queries read each row once.
TEST(SpeculativeStep, ReadsTheCacheOnceForAllDrafts) {
  const SpeculationConfig config = of_kind(DraftKind::ngram, 3);
  const StepGraph graph = step(config);
  EXPECT_EQ(moved(graph, Direction::read, TensorClass::keys), 16_B * (4L * 4 * 67));
  EXPECT_EQ(moved(graph, Direction::write, TensorClass::keys), 16_B * (4L * 4 * 4));
  EXPECT_EQ(held(graph, TensorClass::keys), 16_B * (4L * 4 * 67));
  // layers, scores and weighted sum as multiply and add, batch, heads, queries, positions, head_dim
  EXPECT_EQ(attention_flops(graph).in_base(), 4L * 4 * 2 * 4 * 4 * 67 * 8);
  EXPECT_EQ(graph.tokens, 2);
}

// The causal mask discards 3 + 2 + 1 of the pairs of four queries and their own positions.
TEST(SpeculativeStep, CountsMaskedPairsAsPadding) {
  const SpeculationConfig config = of_kind(DraftKind::ngram, 3);
  Flops padding;
  for (const Op& op : step(config).ops) padding += op.padding;
  EXPECT_EQ(padding.in_base(), 4L * 4 * 2 * 4 * 6 * 8);
}

TEST(SpeculativeStep, ReadsEveryWeightOnce) {
  const SpeculationConfig config = of_kind(DraftKind::ngram, 3);
  const Bytes plain =
      moved(testing::build("{name: dense, kv_tier: near}"), Direction::read, TensorClass::weights);
  // Eight rows of the embedding table instead of two, 64 B each.
  EXPECT_EQ(moved(step(config), Direction::read, TensorClass::weights), plain + 64_B * 6);
}

TEST(SpeculativeStep, WaitsForTheSearchOfEverySequence) {
  SpeculationConfig config = of_kind(DraftKind::ngram, 3);
  config.draft.host.value = Duration(7);
  const StepGraph graph = step(config);
  EXPECT_EQ(graph.drafting, 1U);
  EXPECT_EQ(graph.ops.front().kind, OpKind::host);
  EXPECT_EQ(graph.ops.front().host_time, Duration(14));
}

// Without drafts the operations are those of the step without speculation, to the last one.
TEST(SpeculativeStep, WithoutDraftsIsTheStepWithoutSpeculation) {
  SpeculationConfig config = of_kind(DraftKind::ngram, 3);
  config.tokens_by_batch = {{2, 0}};
  const StepGraph graph = step(config);
  const StepGraph plain = testing::build("{name: dense, kv_tier: near}");
  ASSERT_EQ(graph.ops.size(), plain.ops.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    EXPECT_TRUE(same_work(graph.ops[i], plain.ops[i])) << i;
}

// Per pass: one layer of attention (32 x 64 + 32 x 32) and MLP (3 x 32 x 64), the projection that
// joins two vectors (64 x 32), and the model's head (32 x 100), beside rows of the embedding table.
TEST(SpeculativeStep, RunsTheHeadOfAnEagleDraftOncePerToken) {
  const SpeculationConfig config = of_kind(DraftKind::eagle, 3);
  const StepGraph graph = step(config);
  const std::int64_t weights = 32 * 64 + 32 * 32 + 3 * 32 * 64 + 64 * 32 + 32 * 100;
  const Bytes plain =
      moved(step(of_kind(DraftKind::ngram, 3)), Direction::read, TensorClass::weights);
  // The first pass has 2 x 4 rows, the other two have 2 each.
  EXPECT_EQ(moved(graph, Direction::read, TensorClass::weights),
            plain + 2_B * (3 * weights) + 64_B * (8 + 2 + 2));
  // Weights: that layer with its two norms, the projection with two norms, a last norm.
  const Bytes beside = 2_B * (32 * 64 + 32 * 32 + 3 * 32 * 64 + 64 * 32 + 5 * 32);
  EXPECT_EQ(held(graph, TensorClass::weights),
            held(step(of_kind(DraftKind::ngram, 3)), TensorClass::weights) + beside);
  // A fifth layer of keys.
  EXPECT_EQ(held(graph, TensorClass::keys), 16_B * (5L * 4 * 67));
}

// Two layers draft three tokens, and again pass the last draft, after which the other two verify.
TEST(SpeculativeStep, UsesTheLayersThatDraftedOnce) {
  SpeculationConfig config = of_kind(DraftKind::early_exit, 3);
  config.draft.layer = 2;
  const StepGraph graph = step(config);
  const std::int64_t layer = 32 * 64 + 32 * 32 + 3 * 32 * 64;
  const std::int64_t head = 32 * 100;
  // Four passes of the first layers with two rows each, three heads, then the verification.
  EXPECT_EQ(moved(graph, Direction::read, TensorClass::weights),
            2_B * (4 * 2 * layer + 3 * head + 2 * layer + head) + 64_B * (4 * 2));
  // Drafts write the rows of their layers, one at a time, and the verification those of the others.
  EXPECT_EQ(moved(graph, Direction::write, TensorClass::keys), 16_B * (4L * (2 * 4 + 2 * 4)));
  EXPECT_EQ(held(graph, TensorClass::keys), 16_B * (4L * 4 * 67));
}

TEST(SpeculativeStep, OfTieredRowsFetchesTheFarOnesOnce) {
  for (const DraftKind kind : {DraftKind::eagle, DraftKind::early_exit}) {
    SpeculationConfig config = of_kind(kind, 2);
    const StepGraph graph = step(config, "{name: tiered, near_positions: 16}");
    Bytes far;
    for (std::size_t op = graph.drafting; op < graph.ops.size(); ++op)
      for (const Access& access : graph.ops[op].accesses)
        if (access.tier != kNear && access.direction == Direction::read) far += access.payload;
    // 50 of 66 rows of keys and values in four layers.
    EXPECT_EQ(far, 16_B * (2L * 4 * 4 * 50)) << config.draft.kind;
  }
}

// A small model has the types that it states, unless the draft states one.
TEST(SpeculativeStep, ADraftModelHasItsPublishedTypes) {
  AttentionContext c = testing::small_step();
  SpeculationConfig config;
  config.draft.kind = "model";
  config.draft.model = c.model;
  config.draft.model.weights =
      PublishedWeights{.type = DataType::bf16, .parts = {.mlp = DataType::int4}};
  c.speculation = &config;
  EXPECT_EQ(draft_context(c).step.weight_type, DataType::bf16);
  EXPECT_EQ(draft_context(c).step.weight_types.mlp, DataType::int4);
  config.draft.weight_type = DataType::fp8;
  EXPECT_EQ(draft_context(c).step.weight_type, DataType::fp8);
  EXPECT_FALSE(draft_context(c).step.weight_types.any());
}

TEST(DraftPasses, BeginWithWhatWasVerified) {
  const auto positions = [](DraftKind kind) {
    std::string out;
    for (const DraftPass& pass : draft_passes(of_kind(kind, 3), 3))
      out += std::to_string(pass.positions);
    return out;
  };
  EXPECT_EQ(positions(DraftKind::mtp), "411");
  EXPECT_EQ(positions(DraftKind::eagle), "411");
  EXPECT_EQ(positions(DraftKind::model), "211");
  EXPECT_EQ(positions(DraftKind::early_exit), "111");
  EXPECT_EQ(positions(DraftKind::ngram), "");
}

SpeculationConfig tree(std::vector<std::int64_t> widths, std::vector<std::vector<double>> ranks,
                       std::int64_t tokens, DraftKind kind = DraftKind::eagle) {
  SpeculationConfig config = of_kind(kind, tokens);
  config.draft.tree = DraftTreeConfig{std::move(widths)};
  config.acceptance.rate.reset();
  for (const std::vector<double>& of_depth : ranks) {
    RankAcceptance& at = config.acceptance.by_depth.emplace_back();
    for (const double rank : of_depth) at.ranks.push_back({.value = rank});
  }
  return config;
}

// Two first tokens with one second token each: paths of 0.5, 0.25, 0.5 * 0.5 and 0.25 * 0.5. Fewer
// drafts are the likeliest of them, each after its parent.
TEST(DraftTree, SumsTheProductsAlongThePathsOfItsNodes) {
  const SpeculationConfig config = tree({2, 1}, {{0.5, 0.25}, {0.5}}, 4);
  const AcceptanceLaw law = config.law();
  EXPECT_EQ(law.mean_tokens(4), 1 + 0.5 + 0.25 + 0.25 + 0.125);
  EXPECT_EQ(law.mean_tokens(3), 1 + 0.5 + 0.25 + 0.25);
  EXPECT_EQ(law.mean_tokens(2), 1 + 0.5 + 0.25);
  EXPECT_EQ(law.mean_tokens(1), 1 + 0.5);
  EXPECT_EQ(law.mean_tokens(0), 1);
}

// A likely child of the first token stands before an unlikely second token.
TEST(DraftTree, KeepsItsLikeliestNodes) {
  const std::vector<std::int64_t> widths{2, 2};
  AcceptanceConfig acceptance;
  acceptance.by_depth = {{{{.value = 0.9}, {.value = 0.1}}}, {{{.value = 0.5}, {.value = 0.3}}}};
  const std::vector<DraftNode> nodes = likeliest_nodes(acceptance, 0, widths, 6);
  ASSERT_EQ(nodes.size(), 6U);
  std::vector<std::int64_t> depths;
  std::vector<std::int64_t> parents;
  for (const DraftNode& node : nodes) {
    depths.push_back(node.depth);
    parents.push_back(node.parent);
  }
  // 0.9, then its children with 0.45 and 0.27, then 0.1 and its children with 0.05 and 0.03.
  EXPECT_EQ(depths, (std::vector<std::int64_t>{1, 2, 2, 1, 2, 2}));
  EXPECT_EQ(parents, (std::vector<std::int64_t>{-1, 0, 0, -1, 3, 3}));
  // Three drafts have one node with children, six have two.
  EXPECT_EQ(tree_shape(nodes, 3).inner, std::vector<std::int64_t>{1});
  EXPECT_EQ(tree_shape(nodes, 6).inner, std::vector<std::int64_t>{2});
  EXPECT_EQ(tree_shape(nodes, 6).nodes, (std::vector<std::int64_t>{2, 4}));
}

// The draws are those of an acceptance by position with as much at each depth: 0.75, then 0.375.
TEST(DraftTree, DrawsDepthsByTheSumOfTheirNodes) {
  const AcceptanceLaw law = tree({2, 1}, {{0.5, 0.25}, {0.5}}, 4).law();
  const AcceptanceLaw chain({.by_position = {{.value = 0.75}, {.value = 0.5}}}, 2, 2);
  for (std::int64_t request = 0; request < 200; ++request)
    EXPECT_EQ(law.accepted(7, request, 3, 4), chain.accepted(7, request, 3, 2));
}

// The whole tree of 2 and 2: two nodes pass the draft again, and see themselves alone. The first
// pass has what a path of two drafts and the root are.
TEST(DraftTree, RunsItsDraftOncePerDepth) {
  const SpeculationConfig config = tree({2, 2}, {{0.5, 0.25}}, 6);
  const std::vector<DraftPass> passes = draft_passes(config, 6);
  ASSERT_EQ(passes.size(), 2U);
  EXPECT_EQ(passes[0].positions, 3);
  EXPECT_EQ(passes[0].logits, 1);
  EXPECT_EQ(passes[0].mask, TreeMask{});
  EXPECT_EQ(passes[1].positions, 2);
  EXPECT_EQ(passes[1].ahead, 2);
  EXPECT_EQ(passes[1].logits, 2);
  EXPECT_EQ(passes[1].mask, (TreeMask{.rows = 2, .kept = 2}));
}

// Of 7 x 7 pairs of the root and six nodes, 1 + 2 * 2 + 4 * 3 lie on a path; the kernel computes
// all, and reads a bias of 4 B for each in every layer.
TEST(DraftTree, IsVerifiedUnderAMaskOfItsPaths) {
  const SpeculationConfig config = tree({2, 2}, {{0.5, 0.25}}, 6, DraftKind::ngram);
  EXPECT_EQ(config.mask(6), (TreeMask{.rows = 7, .kept = 17}));
  const StepGraph graph = step(config);
  Flops padding;
  for (const Op& op : graph.ops) padding += op.padding;
  EXPECT_EQ(padding.in_base(), 4L * 4 * 2 * 4 * (49 - 17) * 8);
  // layers, scores and weighted sum as multiply and add, batch, heads, queries, positions, head_dim
  EXPECT_EQ(attention_flops(graph).in_base(), 4L * 4 * 2 * 4 * 7 * 70 * 8);
  EXPECT_EQ(moved(graph, Direction::read, TensorClass::keys), 16_B * (4L * 4 * 70));
  EXPECT_EQ(moved(graph, Direction::read, TensorClass::indices), 4_B * (4L * 49));
}

// A chain is the tree in which every node has one child, to the last operation.
TEST(DraftTree, OfOneChildEachIsAChain) {
  for (const DraftKind kind : {DraftKind::eagle, DraftKind::ngram, DraftKind::early_exit}) {
    const SpeculationConfig chain = of_kind(kind, 3);
    SpeculationConfig narrow = chain;
    narrow.draft.tree = DraftTreeConfig{{1, 1, 1}};
    const SpeculationConfig ranked = tree({1, 1, 1}, {{0.5}}, 3, kind);
    const StepGraph expected = step(chain);
    for (const SpeculationConfig& config : {narrow, ranked}) {
      const StepGraph graph = step(config);
      ASSERT_EQ(graph.ops.size(), expected.ops.size());
      for (std::size_t i = 0; i < graph.ops.size(); ++i)
        EXPECT_TRUE(same_work(graph.ops[i], expected.ops[i])) << i;
      for (std::int64_t drafts = 0; drafts <= 3; ++drafts)
        EXPECT_EQ(config.law().mean_tokens(drafts), chain.law().mean_tokens(drafts));
    }
  }
}

// But where an indexer scores for each new position, and its cost is known.
TEST(Methods, ThatChooseRowsByTheQueryVerifyNoDrafts) {
  const auto library = make_method_library();
  for (const auto& [name, kind] : library.entries()) {
    const auto method = kind.make();
    EXPECT_FALSE(method->screens() && method->verifies_drafts() && !method->runs_indexer()) << name;
    EXPECT_TRUE(method->verifies_drafts() || !method->runs_indexer()) << name;
  }
}

}  // namespace
}  // namespace tiersim::speculation_test
