// The kernels of an engine besides products, attention and collectives, by hand. The model has 4
// layers, hidden 32, 4 query and 2 KV heads of 8, an MLP of 64 and a vocabulary of 100; a step has
// 2 sequences (small_step.hpp).
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/workloads/parallel_models.hpp"
#include "workloads/llm/weight_parts.hpp"

namespace tiersim::execution_test {
namespace {

using testing::build;
using testing::small_mla;
using testing::small_step;

constexpr const char* kDense = "{name: dense, kv_tier: near}";

StepGraph step_of(const ExecutionConfig& execution, std::int64_t tensor = 1,
                  std::optional<QkNormWidth> query_norms = {}) {
  AttentionContext c = small_step();
  c.model.qk_norm = query_norms.has_value();
  c.model.qk_norm_over = query_norms.value_or(QkNormWidth::head);
  c.execution = execution;
  c.parallel.tensor = tensor;
  c.step.weight_type = DataType::fp8;
  return build(kDense, c);
}

// "read written" in bytes of each small kernel of a layer, in order; not the cache's.
std::vector<std::string> small_kernels(const StepGraph& graph, int layer) {
  std::vector<std::string> out;
  for (const Op& op : graph.ops) {
    if (op.layer != layer || op.family != KernelFamily::elementwise ||
        op.phase == Phase::write_back || op.phase == Phase::embedding)
      continue;
    std::int64_t sums[2] = {0, 0};
    for (const Access& a : op.accesses)
      sums[static_cast<std::size_t>(a.direction)] += a.payload.in_base();
    out.push_back(fmt::format("{} {} {}", name(op.phase), sums[0], sums[1]));
  }
  return out;
}

TEST(Execution, FusesEverythingByDefault) {
  const StepGraph graph = step_of({});
  EXPECT_EQ(small_kernels(graph, 0), std::vector<std::string>{});
  EXPECT_EQ(small_kernels(graph, -1), std::vector<std::string>{});
}

TEST(Execution, HasTheKernelsThatAreAskedFor) {
  const StepGraph graph = step_of({.norms = NormKernels::kernels,
                                   .rotary = SmallKernel::kernel,
                                   .activation = SmallKernel::kernel,
                                   .sampling = SmallKernel::kernel});
  // 2 tokens in bf16. A norm: the stream and its addend, 2 * 2 * 32 * 2 B, and as much back;
  // queries and keys 2 * (32 + 16) * 2 B; gate and up 2 * 128 * 2 B in, half of it out.
  EXPECT_EQ(small_kernels(graph, 1),
            (std::vector<std::string>{"projection 256 256", "attention 192 192", "mlp 256 256",
                                      "mlp 512 256"}));
  // The last norm, and the logits of 2 sequences: 2 * 100 * 2 B.
  EXPECT_EQ(small_kernels(graph, -1), (std::vector<std::string>{"head 256 256", "head 400 4"}));
}

// Of 2 tokens in bf16: queries 2 * 32 * 2 B, keys 2 * 16 * 2 B.
TEST(Execution, HasNormsOverQueriesAndKeysOfModelsThatHaveThem) {
  const ExecutionConfig both{.query_norms = QueryNorms::kernel};
  const ExecutionConfig each{.query_norms = QueryNorms::kernels};
  EXPECT_EQ(small_kernels(step_of(both), 1), std::vector<std::string>{});
  EXPECT_EQ(small_kernels(step_of({}, 1, QkNormWidth::head), 1), std::vector<std::string>{});
  EXPECT_EQ(small_kernels(step_of(both, 1, QkNormWidth::head), 1),
            std::vector<std::string>{"attention 192 192"});
  EXPECT_EQ(small_kernels(step_of(each, 1, QkNormWidth::all_heads), 1),
            (std::vector<std::string>{"attention 128 128", "attention 64 64"}));
}

// Of 2 tokens in bf16: latents of queries 2 * 12 * 2 B, of keys and values 2 * 16 * 2 B.
TEST(Execution, HasNormsOverTheLatentsOfMla) {
  const auto kernels = [](std::optional<QueryNorms> norms, std::int64_t q_lora_rank) {
    AttentionContext c = small_step();
    c.model.mla = small_mla(q_lora_rank);
    c.model.head_dim = 12;
    c.model.kv_heads = 4;
    c.execution.latent_norms = norms;
    return small_kernels(build(kDense, c), 1);
  };
  using Kernels = std::vector<std::string>;
  EXPECT_EQ(kernels({}, 12), Kernels{});
  EXPECT_EQ(kernels(QueryNorms::fused, 12), Kernels{});
  EXPECT_EQ(kernels(QueryNorms::kernel, 12), Kernels{"attention 112 112"});
  EXPECT_EQ(kernels(QueryNorms::kernels, 12), (Kernels{"attention 48 48", "attention 64 64"}));
  EXPECT_EQ(kernels(QueryNorms::kernels, 0), Kernels{"attention 64 64"});
  EXPECT_EQ(small_kernels(step_of({.latent_norms = QueryNorms::kernels}), 1), Kernels{});
}

// Two GPUs have half of the heads each. The squares of queries and of keys are two numbers of a
// token: 2 * 2 * 2 B as a kernel writes them, and 2 * 2 * 4 B in fp32 on their way.
TEST(Execution, AddsUpSquaresOverGpusWhereANormIsOverAllHeads) {
  const ExecutionConfig both{.query_norms = QueryNorms::kernel};
  EXPECT_EQ(small_kernels(step_of(both, 2, QkNormWidth::head), 1),
            std::vector<std::string>{"attention 96 96"});
  const StepGraph graph = step_of(both, 2, QkNormWidth::all_heads);
  EXPECT_EQ(small_kernels(graph, 1),
            (std::vector<std::string>{"attention 96 8", "attention 96 96"}));
  std::vector<std::int64_t> exchanged;
  for (const Op& op : graph.ops)
    if (op.layer == 1 && op.kind == OpKind::collective)
      exchanged.push_back(op.collective.size.in_base());
  EXPECT_EQ(exchanged, (std::vector<std::int64_t>{16, 128, 128}));
}

TEST(Execution, PutsNormsIntoAllReducesWhereThereAreAny) {
  const ExecutionConfig execution{.norms = NormKernels::with_all_reduce};
  for (const std::int64_t tensor : {1, 2}) {
    const StepGraph graph = step_of(execution, tensor);
    EXPECT_EQ(small_kernels(graph, 1).size(), 2U);  // their bytes move in either case
    for (const Op& op : graph.ops) {
      if (op.layer != 1 || op.family != KernelFamily::elementwise || op.phase == Phase::write_back)
        continue;
      EXPECT_EQ(op.fused, tensor > 1);
    }
  }
}

// Weights in mxfp4 are widened to bf16, or their inputs are rounded to 8 bits; other types are as
// before.
TEST(Execution, ChoosesTheArithmeticOfWeightsInMxfp4) {
  const auto arithmetic = [](const ExecutionConfig& execution, DataType type) {
    AttentionContext c = small_step();
    c.execution = execution;
    c.step.weight_types.mlp = type;
    std::set<Arithmetic> out;
    for (const Op& op : build(kDense, c).ops)
      if (op.phase == Phase::mlp && op.family == KernelFamily::gemm) out.insert(op.arithmetic);
    return out;
  };
  using One = std::set<Arithmetic>;
  const ExecutionConfig narrow{.mxfp4_inputs = Mxfp4Inputs::fp8};
  EXPECT_EQ(arithmetic({}, DataType::mxfp4), One{Arithmetic::bf16});
  EXPECT_EQ(arithmetic({.mxfp4_inputs = Mxfp4Inputs::bf16}, DataType::mxfp4),
            One{Arithmetic::bf16});
  EXPECT_EQ(arithmetic(narrow, DataType::mxfp4), One{Arithmetic::fp8});
  EXPECT_EQ(arithmetic(narrow, DataType::nvfp4), One{Arithmetic::fp4});
  EXPECT_EQ(arithmetic(narrow, DataType::int4), One{Arithmetic::bf16});
}

std::vector<ProductInput> inputs(const StepGraph& graph, int layer) {
  std::vector<ProductInput> out;
  for (const Op& op : graph.ops)
    if (op.layer == layer && op.matrix.rows > 0) out.push_back(op.matrix.input);
  return out;
}

TEST(Execution, StaticScalesLetTheOperationBeforeQuantise) {
  using enum ProductInput;
  EXPECT_EQ(inputs(step_of({.norms = NormKernels::with_all_reduce}), 1),
            (std::vector{unscaled, unscaled, unscaled, unscaled}));
  const ExecutionConfig fixed{.norms = NormKernels::with_all_reduce,
                              .scales = ActivationScales::fixed};
  // Queries, output, gate and up, down: a norm of its own writes bf16.
  EXPECT_EQ(inputs(step_of(fixed, 1), 1), (std::vector{scaled, quantised, scaled, quantised}));
  EXPECT_EQ(inputs(step_of(fixed, 2), 1),
            (std::vector{quantised, quantised, quantised, quantised}));
}

TEST(Execution, AFusedAppendMovesItsBytesWithoutALaunch) {
  for (const SmallKernel append : {SmallKernel::kernel, SmallKernel::fused}) {
    const StepGraph graph = step_of({.append = append});
    std::int64_t written = 0;
    for (const Op& op : graph.ops) {
      if (op.phase != Phase::write_back) continue;
      EXPECT_EQ(op.fused, append == SmallKernel::fused);
      for (const Access& a : op.accesses)
        if (a.direction == Direction::write) written += a.payload.in_base();
    }
    EXPECT_EQ(written, 4L * 2 * 2 * 2 * 8 * 2);  // layers, sequences, K and V, heads, elements, B
  }
}

TEST(Execution, TheVocabularyMayHaveATypeOfItsOwn) {
  const LlmConfig model = small_step().model;
  const Bytes narrow = stored_weights(model, {.weight_type = DataType::fp8}, {});
  const Bytes wide =
      stored_weights(model, {.weight_type = DataType::fp8}, {.vocabulary_type = DataType::bf16});
  EXPECT_EQ((wide - narrow).in_base(), 2L * 100 * 32);  // a byte more: embedding and head
  const StepGraph graph = step_of({.vocabulary_type = DataType::bf16});
  for (const Op& op : graph.ops) {
    if (op.matrix.rows == 0) continue;
    EXPECT_EQ(op.arithmetic, op.phase == Phase::head ? Arithmetic::bf16 : Arithmetic::fp8);
  }
}

}  // namespace
}  // namespace tiersim::execution_test
