// Layers with linear attention beside those of small_step.hpp, by hand: 2 sequences, 2 key heads
// and 4 value heads of 8 x 4 elements, so that a state has 4 * 8 * 4 = 128 elements; a convolution
// of 4 taps over 2 * 16 + 16 = 48 channels, of which 3 inputs stay: 144 elements.
#include "workloads/attention/linear_attention.hpp"
#include "tests/unit/workloads/small_step.hpp"
#include "workloads/attention/layer_contexts.hpp"
#include "workloads/llm/device_step.hpp"
#include "workloads/llm/iteration.hpp"
#include "workloads/llm/shard.hpp"

namespace tiersim::testing::linear_attention_test {
namespace {

constexpr const char* kDense = "{name: dense, kv_tier: near}";

AttentionContext hybrid(LinearKind kind = LinearKind::gated_delta_net) {
  AttentionContext c = small_step();
  c.model.layer_types = {LayerType::linear_attention, LayerType::full_attention};
  c.model.linear = LinearConfig{.kind = kind,
                                .key_heads = 2,
                                .value_heads = 4,
                                .key_head_dim = 8,
                                .value_head_dim = 4,
                                .gate_rank = kind == LinearKind::kimi_delta ? 4 : 0,
                                .chunk = 16};
  return c;
}

AttentionContext prompt(AttentionContext c) {
  c.step.kind = StepKind::prefill;
  return c;
}

std::int64_t held(const StepGraph& graph, TensorClass tensor_class) {
  Bytes sum;
  for (const Tensor& t : graph.tensors)
    if (t.tensor_class == tensor_class) sum += t.size;
  return sum.in_base();
}

TEST(LinearAttention, AStateHasTheSameBytesAtEveryLength) {
  const Bytes fp32 = state_bytes(*hybrid().model.linear, StateType::fp32);
  EXPECT_EQ(fp32.in_base(), 128 * 4 + 144 * 2);
  EXPECT_EQ(state_bytes(*hybrid().model.linear, StateType::bf16).in_base(), 128 * 2 + 144 * 2);
  for (const std::int64_t context : {1, 64, 100'000}) {
    AttentionContext c = hybrid();
    c.step.context = context;
    const StepGraph graph = build(kDense, c);
    EXPECT_EQ(held(graph, TensorClass::states), 2 * 2 * fp32.in_base());  // layers, sequences
    EXPECT_EQ(held(graph, TensorClass::keys), 2 * 4 * context * 16);      // of two layers
  }
}

TEST(LinearAttention, ADecodeStepReadsAndWritesEveryState) {
  const StepGraph graph = build(kDense, hybrid());
  for (const int layer : {0, 2}) {
    const Ledger bytes = ledger(graph, layer);
    EXPECT_EQ(bytes.at("near read states"), 2 * (128 * 4 + 144 * 2));
    EXPECT_EQ(bytes.at("near write states"), 2 * (128 * 4 + 144 * 2));
    EXPECT_EQ(bytes.at("near read weights"), 48 * 4 * 2);  // of the convolution
    EXPECT_FALSE(bytes.contains("near read keys"));
  }
  EXPECT_EQ(ledger(graph, 1), ledger(build(kDense), 1));
}

// Two FLOPs for each tap and channel, and 7 for each element of a state under a delta rule; 5, and
// 2 for each value, of mamba2.
TEST(LinearAttention, FlopsOfADecodeStep) {
  const std::int64_t conv = 2 * 2 * 4 * 48;
  EXPECT_EQ(flops(build(kDense, hybrid()), 0, Phase::attention), conv + 2 * 7 * 128);
  EXPECT_EQ(flops(build(kDense, hybrid(LinearKind::kimi_delta)), 0, Phase::attention),
            conv + 2 * 7 * 128);
  EXPECT_EQ(flops(build(kDense, hybrid(LinearKind::mamba2)), 0, Phase::attention),
            conv + 2 * (5 * 128 + 2 * 16));
}

// 64 tokens of each sequence in 4 chunks of 16: by head and token 2 * 16 * (3 * 8 + 2 * 4) + 6 * 8
// * 4 + 2 * 16 * 16 / 3 FLOPs. States between two chunks are written and read in bf16; none was
// there before.
TEST(LinearAttention, APromptIsReadInChunks) {
  const StepGraph graph = build(kDense, prompt(hybrid()));
  const std::int64_t each = 2 * 16 * (3 * 8 + 2 * 4) + 6 * 8 * 4 + 2 * 16 * 16 / 3;
  EXPECT_EQ(flops(graph, 0, Phase::attention), 128 * (2 * 4 * 48 + 4 * each));
  const Ledger bytes = ledger(graph, 0);
  EXPECT_EQ(bytes.at("near read states"), 2 * 4 * 128 * 2);
  EXPECT_EQ(bytes.at("near write states"), 2 * 4 * 128 * 2 + 2 * (128 * 4 + 144 * 2));
}

TEST(LinearAttention, AContinuedPromptReadsItsState) {
  AttentionContext c = prompt(hybrid());
  c.step.batch = 1;
  c.step.context = 40;
  c.chunks = {{30, 0}, {10, 70}};  // 2 chunks of 16 and 1
  const Ledger bytes = ledger(build(kDense, c), 0);
  EXPECT_EQ(bytes.at("near read states"), 3 * 128 * 2 + 128 * 4 + 144 * 2);
}

TEST(LinearAttention, GpusShareTheHeads) {
  AttentionContext c = hybrid();
  c.parallel.tensor = 2;
  const Ledger half = ledger(build(kDense, c), 0);
  EXPECT_EQ(half.at("near read states") * 2,
            ledger(build(kDense, hybrid()), 0).at("near read states"));
  c.model.linear->key_heads = 1;
  const auto problems = shard_problems(c.model, c.parallel);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].message,
            "2 GPUs cannot have equal parts of 1 key heads of linear attention");
}

TEST(LinearAttention, AMethodSeesNoSuchLayer) {
  const AttentionContext c = hybrid();
  const LayerContexts contexts(c);
  ASSERT_EQ(contexts.all().size(), 1U);
  EXPECT_EQ(contexts.all()[0]->model.layers, 2);
  EXPECT_FALSE(contexts.all()[0]->model.linear.has_value());
  EXPECT_TRUE(contexts.of(0).model.all_linear());
}

TEST(LinearAttention, TheStateIsHandedOver) {
  AttentionContext c = prompt(hybrid());
  c.handover = HandoverConfig{};
  const StepGraph graph = build(kDense, c);
  std::map<int, std::int64_t> sent;
  for (const Op& op : graph.ops)
    if (op.phase == Phase::kv_transfer) sent[op.layer] += op.collective.size.in_base();
  EXPECT_EQ(sent[0], 2 * (128 * 4 + 144 * 2));
  EXPECT_EQ(sent[1], 2 * 64 * 2 * 2 * 8 * 2);  // positions, KV heads, keys and values, elements
}

// A layer that is an MLP alone has neither projections nor attention, and keeps the others' order.
TEST(LinearAttention, LayersWithoutAttention) {
  AttentionContext c = hybrid();
  c.model.layer_types = {LayerType::linear_attention, LayerType::no_attention,
                         LayerType::full_attention, LayerType::no_attention};
  c.model.mlp_types = {MlpType::none, MlpType::dense};
  const StepGraph graph = build(kDense, c);
  for (const Op& op : graph.ops) {
    if (op.layer < 0) continue;
    if (op.layer % 2 == 1)
      EXPECT_EQ(op.phase, Phase::mlp);
    else
      EXPECT_NE(op.phase, Phase::mlp);
  }
  EXPECT_EQ(c.model.attention_layers(), 1);
  EXPECT_EQ(c.model.linear_layers(), 1);
}

// An iteration of decoding sequences and a piece of a prompt does for each what a step does.
TEST(LinearAttention, AnIterationHasItsParts) {
  const IterationWork work{.decodes = 2, .context = 64, .chunks = {{16, 0}}, .logits = 2};
  const StepGraph graph = build_iteration(hybrid(), *method(kDense), work, {"near", "far"});
  std::vector<std::int64_t> tokens;
  for (const Op& op : graph.ops)
    if (op.layer == 0 && op.family == KernelFamily::linear_attention)
      tokens.push_back(op.linear.sequences * op.linear.tokens);
  EXPECT_EQ(tokens, (std::vector<std::int64_t>{2, 16}));
}

// The joint product has queries and keys of 16 each, values and gates of 16 and two numbers for
// each of 4 heads: 72. The norm reads outputs and gates of 16. Two sequences in bf16, three chunks
// of a prompt.
TEST(LinearAttention, HasAKernelThatSplitsAndOneThatNorms) {
  const auto kernels = [](const AttentionContext& c) {
    std::vector<std::int64_t> bytes;
    for (const Op& op : build(kDense, c).ops) {
      if (op.layer != 0 || op.family != KernelFamily::elementwise || op.phase != Phase::attention)
        continue;
      bytes.push_back(0);
      for (const Access& a : op.accesses) bytes.back() += a.payload.in_base();
    }
    return bytes;
  };
  using Bytes64 = std::vector<std::int64_t>;
  AttentionContext c = hybrid();
  EXPECT_EQ(kernels(c), Bytes64{});
  c.execution.linear_split = SmallKernel::kernel;
  EXPECT_EQ(kernels(c), (Bytes64{2 * 2 * 72 * 2}));
  c.execution.linear_norm = SmallKernel::kernel;
  EXPECT_EQ(kernels(c), (Bytes64{2 * 2 * 72 * 2, 2 * 3 * 16 * 2}));
  c.step.kind = StepKind::prefill;
  c.chunks = {{.tokens = 5}, {.tokens = 7}, {.tokens = 3}};
  EXPECT_EQ(kernels(c), (Bytes64{15 * 2 * 72 * 2, 15 * 3 * 16 * 2}));
  // Kimi Delta Attention has products of its own, and nothing to split.
  AttentionContext kimi = hybrid(LinearKind::kimi_delta);
  kimi.execution = c.execution;
  EXPECT_EQ(kernels(kimi), (Bytes64{2 * 3 * 16 * 2}));
}

}  // namespace
}  // namespace tiersim::testing::linear_attention_test
