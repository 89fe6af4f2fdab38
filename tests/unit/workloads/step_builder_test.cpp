#include "workloads/llm/step_builder.hpp"

#include <map>

#include <gtest/gtest.h>

#include "workloads/attention/method.hpp"

namespace tiersim::step_builder_test {
namespace {

using namespace literals;

constexpr std::size_t kNear = 0;
constexpr std::size_t kFar = 1;

// Two layers, four heads of eight elements: every size below can be worked out by hand.
AttentionContext small() {
  return {.model = {.layers = 2,
                    .hidden = 32,
                    .heads = 4,
                    .kv_heads = 2,
                    .head_dim = 8,
                    .intermediate = 64,
                    .vocabulary = 100},
          .step = {.batch = 3, .context = 16},
          .placement = {TierId(kNear), TierId(kFar)}};
}

StepGraph build(const std::string& method) {
  const auto built = make_method_library().find(method)->make();
  return build_step(small(), *built, {"near", "far"});
}

Bytes moved(const StepGraph& graph, std::size_t tier, Direction direction,
            TensorClass tensor_class) {
  Bytes sum;
  for (const Op& op : graph.ops)
    for (const Access& access : op.accesses)
      if (access.tier == TierId(tier) && access.direction == direction &&
          access.tensor_class == tensor_class)
        sum += access.payload;
  return sum;
}

TEST(DecodeStep, EveryWeightIsReadOnceButTheEmbeddingTable) {
  const StepGraph graph = build("dense");
  const LlmConfig m = small().model;
  const std::int64_t norms = 2 * 2 * 32 + 32;
  const std::int64_t table = 100 * 32 - 3 * 32;  // three rows of it are read
  EXPECT_EQ(moved(graph, kNear, Direction::read, TensorClass::weights),
            2_B * (m.parameters() - norms - table));
}

TEST(DecodeStep, DenseReadsTheWholeCacheAndAppendsOneRow) {
  const StepGraph graph = build("dense");
  const Bytes all = 2_B * (2L * 3 * 2 * 16 * 8);  // layers, batch, KV heads, context, head_dim
  EXPECT_EQ(moved(graph, kNear, Direction::read, TensorClass::keys), all);
  EXPECT_EQ(moved(graph, kNear, Direction::read, TensorClass::values), all);
  EXPECT_EQ(moved(graph, kNear, Direction::write, TensorClass::keys) * 16, all);
}

TEST(DecodeStep, FlopsAreThoseOfTheProductsAndTheAttention) {
  const StepGraph graph = build("dense");
  Flops sum;
  for (const Op& op : graph.ops) sum += op.flops;
  const std::int64_t layer = 32 * (32 + 2 * 16) + 32 * 32 + 3 * 32 * 64;
  const std::int64_t products = 2L * 3 * (2 * layer + 32L * 100);
  const std::int64_t attention =
      4L * 2 * 3 * 4 * 16 * 8;  // layers, batch, heads, context, head_dim
  EXPECT_EQ(sum.in_base(), products + attention);
}

TEST(DecodeStep, EachLayerWaitsForTheOneBefore) {
  const StepGraph graph = build("dense");
  for (std::size_t i = 1; i < graph.ops.size(); ++i) {
    ASSERT_EQ(graph.ops[i].after.size(), 1U) << i;
    EXPECT_EQ(graph.ops[i].after.front(), OpId(i - 1)) << i;
  }
}

TEST(StepGraphDeathTest, RefusesWhatCannotBe) {
  StepGraph graph;
  graph.tier_names = {"near"};
  EXPECT_DEATH(graph.add({.flops = {}, .after = {OpId(0)}}), "before < id");
  EXPECT_DEATH(
      graph.add(
          {.flops = {}, .accesses = {{TierId(0), Direction::read, TensorClass::keys, 8_B, 16_B}}}),
      "access.run <= access.payload");
}

// Each weight is multiplied in its stored type, except 4-bit ones, which are widened.
TEST(Arithmetic, IsThatOfTheWeights) {
  EXPECT_EQ(arithmetic_of(DataType::bf16), Arithmetic::bf16);
  EXPECT_EQ(arithmetic_of(DataType::fp8), Arithmetic::fp8);
  EXPECT_EQ(arithmetic_of(DataType::int8), Arithmetic::int8);
  EXPECT_EQ(arithmetic_of(DataType::int4), Arithmetic::bf16);
}

}  // namespace
}  // namespace tiersim::step_builder_test
