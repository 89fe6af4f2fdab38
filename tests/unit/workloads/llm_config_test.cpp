#include "workloads/llm/llm_config.hpp"

#include <gtest/gtest.h>

#include "workloads/attention/kv_ops.hpp"

namespace tiersim::llm_config_test {
namespace {

using namespace literals;

LlmConfig llama2_7b() {
  return {.name = "llama2-7b",
          .layers = 32,
          .hidden = 4096,
          .heads = 32,
          .kv_heads = 32,
          .head_dim = 128,
          .intermediate = 11008,
          .vocabulary = 32000};
}

// Published totals: Llama-2 6,738,415,616 and 13,015,864,320; Llama-3.1 405,853,388,800.
TEST(LlmConfig, ParametersEqualThePublishedTotals) {
  EXPECT_EQ(llama2_7b().parameters(), 6'738'415'616);
  const LlmConfig llama2_13b{.layers = 40,
                             .hidden = 5120,
                             .heads = 40,
                             .kv_heads = 40,
                             .head_dim = 128,
                             .intermediate = 13824,
                             .vocabulary = 32000};
  EXPECT_EQ(llama2_13b.parameters(), 13'015'864'320);
  const LlmConfig llama31_405b{.layers = 126,
                               .hidden = 16384,
                               .heads = 128,
                               .kv_heads = 8,
                               .head_dim = 128,
                               .intermediate = 53248,
                               .vocabulary = 128256};
  EXPECT_EQ(llama31_405b.parameters(), 405'853'388'800);
}

TEST(LlmConfig, TiedEmbeddingsCountOnce) {
  LlmConfig tied = llama2_7b();
  tied.tied_embeddings = true;
  EXPECT_EQ(llama2_7b().parameters() - tied.parameters(), 32000 * 4096);
}

TEST(KvShape, SizesAreThoseOfTheCache) {
  const KvShape shape(
      AttentionContext{llama2_7b(), {.batch = 128, .context = 8192}, {TierId(0), TierId(1)}});
  EXPECT_EQ(shape.key_row(), 256_B);
  EXPECT_EQ(shape.keys(shape.context) * 2 * 32, 512_GiB);  // keys and values of 32 layers
  EXPECT_EQ(shape.chosen(0.25), 2048);
  EXPECT_EQ(shape.chosen(1e-9), 1);
  EXPECT_EQ(shape.indices(2048), 2_B * (128L * 32 * 2048));
}

TEST(KvShape, LongContextsTakeWiderIndices) {
  AttentionContext c{llama2_7b(), {.batch = 1, .context = 65'536}, {TierId(0), TierId(1)}};
  EXPECT_EQ(KvShape(c).indices(1), 64_B);
  c.step.context = 65'537;
  EXPECT_EQ(KvShape(c).indices(1), 128_B);
}

TEST(DataType, FourBitElementsPackTwoToAByte) {
  EXPECT_EQ(stored(3, DataType::int4), 2_B);
  EXPECT_EQ(stored(3, DataType::fp16), 6_B);
}

}  // namespace
}  // namespace tiersim::llm_config_test
