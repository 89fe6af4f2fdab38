// The cache that a prefill sends to the GPUs that decode: the bytes and the time of each sending
// GPU.
#include "workloads/llm/handover.hpp"

#include <gtest/gtest.h>

#include "tests/unit/workloads/parallel_models.hpp"
#include "workloads/llm/device_step.hpp"

namespace tiersim::handover_test {
namespace {

using testing::collectives;
using testing::deepseek_v3;
using testing::dense_step;
using testing::replica;
using testing::small_latent;

constexpr ParallelConfig kTwo{.tensor = 2};
constexpr ParallelConfig kSliced{.tensor = 2, .latent_slices = 2};
constexpr ParallelConfig kByData{.tensor = 2, .attention = AttentionSharing::data};

AttentionContext prefill(const LlmConfig& model, ParallelConfig from, ParallelConfig to,
                         HandoverTime when = HandoverTime::layer_by_layer) {
  AttentionContext context =
      replica(model, from, {.kind = StepKind::prefill, .batch = 4, .context = 10});
  context.handover = HandoverConfig{.to = to, .when = when};
  return context;
}

std::int64_t sent(const LlmConfig& model, ParallelConfig from, ParallelConfig to) {
  return device_step(prefill(model, from, to)).handed_over;
}

// Elements of a position and layer that one GPU sends: all copies that the decoding GPUs hold, over
// the GPUs that have them.
TEST(Handover, SendsEveryCopyThatTheDecodingGpusHold) {
  EXPECT_EQ(sent(deepseek_v3(), kTwo, kTwo), 576);     // 2 * 576 / 2
  EXPECT_EQ(sent(deepseek_v3(), kTwo, kSliced), 320);  // 2 * 320 / 2
  EXPECT_EQ(sent(deepseek_v3(), {}, kSliced), 2 * 320);
  EXPECT_EQ(sent(deepseek_v3(), {.tensor = 4}, kSliced), 2 * 320 / 4);
  EXPECT_EQ(sent(deepseek_v3(), kTwo, {.tensor = 4, .latent_slices = 2}), 4 * 320 / 2);
  EXPECT_EQ(sent(deepseek_v3(), kTwo, kByData), 576 / 2);  // each sequence goes to one GPU
  EXPECT_EQ(sent(deepseek_v3(), kByData, kByData), 576);   // of half of the sequences each
  EXPECT_EQ(sent(deepseek_v3(), kByData, kSliced), 2 * 320);
  constexpr ParallelConfig kInPairs{
      .tensor = 8, .attention = AttentionSharing::data, .attention_tensor = 2};
  EXPECT_EQ(sent(deepseek_v3(), kByData, kInPairs), 2 * 576);  // both GPUs of a group get it
  EXPECT_EQ(sent(deepseek_v3(), kInPairs, kByData), 576 / 2);  // each of a group sends half
  EXPECT_EQ(sent(testing::llama3_70b(), kTwo, {.tensor = 4}), 4 * 512 / 2);
}

// Each of two context ranks has 5 of 10 positions of 4 sequences, 8 + 2 elements of 2 B each.
TEST(Handover, OfAContextRankIsThatOfItsPositions) {
  const StepGraph graph = dense_step(prefill(small_latent(), {.context = 2}, {}));
  EXPECT_EQ(collectives(graph, 0).back(), "send transfer 2 400 B");
}

TEST(Handover, IsNothingWithoutOne) {
  EXPECT_EQ(device_step(replica(deepseek_v3(), kTwo)).handed_over, 0);
}

// 40 positions; MLA caches 8 + 2 elements of 2 B, a slice 4 + 2.
TEST(Handover, SendsItsShareOfEachLayer) {
  const auto sends = [](const StepGraph& graph, int layer) {
    std::vector<std::string> out;
    for (const std::string& text : collectives(graph, layer))
      if (text.starts_with("send")) out.push_back(text);
    return out;
  };
  const std::vector<std::string> whole{"send transfer 2 800 B"};
  const std::vector<std::string> sliced{"send transfer 2 480 B"};
  for (const HandoverTime when : {HandoverTime::layer_by_layer, HandoverTime::at_end})
    for (const int layer : {0, 1}) {
      EXPECT_EQ(sends(dense_step(prefill(small_latent(), kTwo, kTwo, when)), layer), whole);
      EXPECT_EQ(sends(dense_step(prefill(small_latent(), kTwo, kSliced, when)), layer), sliced);
    }
}

// The first layer also sends 132 B of index key for each position; the second one has no indexer of
// its own.
TEST(Handover, SendsTheIndexKeysOfLayersThatHaveThem) {
  LlmConfig model = small_latent();
  model.indexer = IndexerConfig{.heads = 2, .head_dim = 128, .top_k = 4};
  model.layer_types = {LayerType::indexed_attention, LayerType::shared_index};
  const StepGraph graph = dense_step(prefill(model, kTwo, kTwo));
  std::vector<std::int64_t> sent;
  for (const Op& op : graph.ops)
    if (op.phase == Phase::kv_transfer) sent.push_back(op.collective.size.in_base());
  EXPECT_EQ(sent, (std::vector<std::int64_t>{800 + 40 * 132, 800}));
}

TEST(Handover, ByLayerWaitsForThatLayersAttentionAndNothingForIt) {
  const StepGraph graph = dense_step(prefill(small_latent(), kTwo, kSliced));
  for (const Op& op : graph.ops) {
    for (const OpId before : op.after)
      EXPECT_NE(graph.ops[before.index()].phase, Phase::kv_transfer);
    if (op.phase != Phase::kv_transfer) continue;
    ASSERT_EQ(op.after.size(), 1U);
    const Op& before = graph.ops[op.after.front().index()];
    EXPECT_EQ(before.phase, Phase::attention);
    EXPECT_EQ(before.layer, op.layer);
    ASSERT_EQ(op.accesses.size(), 1U);  // its rows are read from memory as they are sent
    EXPECT_EQ(op.accesses.front().payload, op.collective.size);
  }
}

TEST(Handover, AtTheEndWaitsForTheFirstToken) {
  const StepGraph graph = dense_step(prefill(small_latent(), kTwo, kSliced, HandoverTime::at_end));
  int sends = 0;
  for (const Op& op : graph.ops) {
    if (op.phase != Phase::kv_transfer) continue;
    ++sends;
    ASSERT_EQ(op.after.size(), 1U);
    const Op& logits = graph.ops[op.after.front().index()];
    EXPECT_EQ(logits.layer, -1);
    EXPECT_EQ(logits.collective.kind, CollectiveKind::all_gather);
  }
  EXPECT_EQ(sends, 2);
}

}  // namespace
}  // namespace tiersim::handover_test
