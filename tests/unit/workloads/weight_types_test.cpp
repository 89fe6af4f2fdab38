// Bytes of weights in 4 bits with their scales, and of models that mix types, against the published
// sizes of checkpoints.
#include "workloads/llm/weight_types.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "tests/unit/workloads/parallel_models.hpp"
#include "workloads/llm/weight_parts.hpp"

namespace tiersim::weight_types_test {
namespace {

using testing::dense_step;
using testing::replica;
using testing::small_experts;

LlmConfig shipped(const std::string& name) {
  Diagnostics diagnostics;
  const Document document =
      load_document(std::filesystem::path(TIERSIM_SOURCE_DIR) / "configs/models" / (name + ".yaml"),
                    {}, diagnostics);
  auto model = read<LlmConfig>(document, "model", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return model;
}

std::int64_t bytes(std::int64_t elements, DataType type) {
  return stored(elements, type).in_base();
}

TEST(DataType, OfFourBitsHasItsScales) {
  EXPECT_EQ(bytes(32, DataType::int4), 16);
  EXPECT_EQ(bytes(32, DataType::mxfp4), 16 + 1);
  EXPECT_EQ(bytes(33, DataType::mxfp4), (33 * 4 + 2 * 8 + 7) / 8);
  EXPECT_EQ(bytes(32, DataType::nvfp4), 16 + 2);
  EXPECT_EQ(bytes(32, DataType::int4_g32), 16 + 2);
  EXPECT_EQ(bits_with_scales(DataType::mxfp4), 4.25);
  EXPECT_EQ(bits_with_scales(DataType::nvfp4), 4.5);
  EXPECT_EQ(bits_with_scales(DataType::fp8), 8);
}

// Tensor data of the published files: experts in MXFP4, everything else in bf16.
TEST(WeightTypes, OfGptOssAreThoseOfThePublishedFiles) {
  const StepConfig step{.weight_type = DataType::bf16,
                        .weight_types = {.experts = DataType::mxfp4}};
  EXPECT_EQ(stored_weights(shipped("gpt_oss_20b"), step, {}).in_base(), 13'761'264'768);
  EXPECT_EQ(stored_weights(shipped("gpt_oss_120b"), step, {}).in_base(), 65'248'815'744);
}

// Kimi-K2.5: 595,148,192,736 B, of which not here: the vision tower in bf16, the other half of the
// routers' biases in fp32, and the shape that the file has of each of 3 * 60 * 384 matrices, 8 B.
TEST(WeightTypes, OfKimiAreThoseOfThePublishedFiles) {
  const LlmConfig model = shipped("kimi_k25");
  const StepConfig step{.weight_type = DataType::bf16,
                        .weight_types = {.experts = DataType::int4_g32}};
  EXPECT_EQ(stored_weights(model, step, {}).in_base() + 2 * model.left_out.at("vision") +
                2L * 60 * 384 + 8L * 3 * 60 * 384,
            595'148'192'736);
}

// Every part has its own type in the operations too: of a layer with experts the projections are
// those of attention, the first product of the MLP is the router.
TEST(WeightTypes, AreThoseOfTheOperationsOfEachPart) {
  AttentionContext c = replica(small_experts(), {});
  c.step.weight_type = DataType::bf16;
  c.step.weight_types = {.attention = DataType::fp8,
                         .experts = DataType::mxfp4,
                         .shared_experts = DataType::int8,
                         .router = DataType::bf16};
  const StepGraph graph = dense_step(c);
  std::int64_t routers = 0;
  for (const Op& op : graph.ops) {
    if (op.matrix.rows == 0) continue;
    if (op.phase == Phase::projection) {
      EXPECT_EQ(op.arithmetic, Arithmetic::fp8);
      EXPECT_EQ(op.matrix.weight_bits, 8);
    }
    if (op.family == KernelFamily::experts) {
      EXPECT_EQ(op.arithmetic, Arithmetic::bf16);
      EXPECT_EQ(op.experts.weight_bits, 4.25);
    }
    if (op.phase == Phase::mlp && op.family == KernelFamily::gemm &&
        op.matrix.columns == c.model.moe->experts) {
      ++routers;
      EXPECT_EQ(op.matrix.weight_bits, 16);
    }
  }
  EXPECT_GT(routers, 0);
}

// The operations of a decode step read every weight of a layer once, but norms and biases.
TEST(WeightTypes, ReadWhatTheFootprintHolds) {
  AttentionContext c = replica(small_experts(), {});
  c.model.moe->experts_per_token = c.model.moe->experts;  // every expert is reached
  c.step.weight_types = {.attention = DataType::fp8, .experts = DataType::nvfp4};
  const WeightParts parts = weight_parts(c.model);
  Bytes held;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto part = static_cast<WeightPart>(p);
    if (part == WeightPart::other || part == WeightPart::embedding) continue;
    held += stored_part(part, parts[p], c.step, {});
  }
  Bytes read;
  for (const Op& op : dense_step(c).ops)
    for (const Access& a : op.accesses)
      if (a.tensor_class == TensorClass::weights && op.phase != Phase::embedding) read += a.payload;
  EXPECT_EQ(read, held);
}

}  // namespace
}  // namespace tiersim::weight_types_test
