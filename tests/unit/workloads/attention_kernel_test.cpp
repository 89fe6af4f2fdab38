// Query rows that a decode kernel executes beyond those needed, and its partial results.
#include "workloads/attention/attention_kernel_config.hpp"

#include <gtest/gtest.h>

#include "tests/unit/workloads/parallel_models.hpp"
#include "workloads/attention/kv_ops.hpp"
#include "workloads/llm/device_step.hpp"

namespace tiersim::attention_kernel_test {
namespace {

using namespace literals;
using testing::deepseek_v3;
using testing::dense_step;
using testing::replica;

// As FlashAttention-3: 128 rows for values of up to 256, 64 for wider ones.
const AttentionKernelConfig kByWidth{
    .tiles = {{.value_width = 256, .rows = 128}, {.value_width = 512, .rows = 64}}};

LlmConfig with_heads(std::int64_t heads) {
  LlmConfig m = deepseek_v3();
  m.heads = m.kv_heads = heads;
  return m;
}

TEST(AttentionKernel, PadsRowsToWholeTilesOfTheirWidth) {
  EXPECT_EQ(AttentionKernelConfig{}.executed_rows(7, 512), 7);
  EXPECT_EQ(kByWidth.executed_rows(1, 64), 128);
  EXPECT_EQ(kByWidth.executed_rows(128, 256), 128);
  EXPECT_EQ(kByWidth.executed_rows(129, 256), 256);
  EXPECT_EQ(kByWidth.executed_rows(64, 257), 64);
  EXPECT_EQ(kByWidth.executed_rows(65, 512), 128);
  EXPECT_EQ(kByWidth.executed_rows(65, 513), 128);  // wider than all: the last tile's
}

// Half of the executed rows are padding where a GPU has half of a tile's heads.
TEST(AttentionKernel, SharingDecidesWhatIsPadded) {
  struct Case {
    std::int64_t heads;
    ParallelConfig parallel;
    std::int64_t times;  // executed rows over those needed
  };
  const ParallelConfig mla{.tensor = 2};
  const ParallelConfig tpla{.tensor = 2, .latent_slices = 2};
  for (const Case& c : {Case{128, mla, 1}, Case{128, tpla, 1}, Case{64, mla, 2}, Case{64, tpla, 2},
                        Case{128, {.tensor = 4, .latent_slices = 2}, 2}}) {
    AttentionContext context = replica(with_heads(c.heads), c.parallel);
    context.kernel = kByWidth;
    const KvShape shape(device_step(context).context);
    EXPECT_EQ(shape.executed_heads, c.times * shape.query_heads);
    EXPECT_EQ(shape.padding_flops(10), shape.attention_flops(10) * (c.times - 1));
  }
}

// Each of the two latents of a GPU has separate rows: 2 * 32 heads are 2 tiles of 128, not one.
TEST(AttentionKernel, RowsOfDifferentKeysShareNoTile) {
  LlmConfig m = with_heads(64);
  m.mla->latent_heads = 2;
  AttentionContext context = replica(m, {});
  context.kernel = kByWidth;
  EXPECT_EQ(KvShape(context).executed_heads, 4 * 2 * 128);
  m = testing::llama3_70b();  // 8 query heads over each of 8 KV heads
  context = replica(m, {});
  context.kernel = {.tiles = {{.value_width = 128, .rows = 16}}};
  EXPECT_EQ(KvShape(context).executed_heads, 4 * 8 * 16);
}

TEST(AttentionKernel, PaddingIsCountedApartAndWithin) {
  AttentionContext context = replica(with_heads(64), {.tensor = 2});
  const StepGraph exact = dense_step(context);
  context.kernel = kByWidth;
  const StepGraph padded = dense_step(context);
  ASSERT_EQ(exact.ops.size(), padded.ops.size());
  for (std::size_t i = 0; i < exact.ops.size(); ++i) {
    const bool attends = exact.ops[i].phase == Phase::attention;
    EXPECT_EQ(exact.ops[i].padding, Flops{});
    EXPECT_EQ(padded.ops[i].flops, exact.ops[i].flops + padded.ops[i].padding);
    EXPECT_EQ(padded.ops[i].padding, attends ? exact.ops[i].flops : Flops{});
  }
}

// fp32 values with a maximum and a sum: 4 B * (256 + 2) * heads * splits.
TEST(AttentionKernel, SplitsLeavePartialResultsInTheWorkspace) {
  AttentionKernelConfig kernel;
  EXPECT_EQ(kernel.partial_results(100, 256), 0_B);
  kernel.splits = 3;
  EXPECT_EQ(kernel.partial_results(100, 256), 4_B * (258L * 100 * 3));
  AttentionContext context = replica(deepseek_v3(), {.tensor = 2, .latent_slices = 2});
  const std::int64_t buffers = 2L * 4 * 7168 * 2;  // of collectives
  EXPECT_EQ(testing::kept(dense_step(context), TensorClass::workspace), buffers);
  context.kernel = kernel;
  EXPECT_EQ(testing::kept(dense_step(context), TensorClass::workspace),
            buffers + 4L * 258 * 4 * 128 * 3);
}

}  // namespace
}  // namespace tiersim::attention_kernel_test
