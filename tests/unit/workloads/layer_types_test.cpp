// Models whose layers attend in different ways, in a layer of small_step.hpp, by hand: 4 pairs of
// sequence and KV head, 64 positions, rows of 16 B; 4 layers, of which the even ones are windowed
// or chunked and the odd ones full.
#include "tests/unit/workloads/small_step.hpp"
#include "workloads/attention/layer_contexts.hpp"
#include "workloads/llm/shard.hpp"

namespace tiersim::testing::layer_types_test {
namespace {

AttentionContext windowed(std::int64_t window) {
  AttentionContext c = small_step();
  c.model.attention_window = window;
  c.model.layer_types = {LayerType::sliding_attention, LayerType::full_attention};
  return c;
}

AttentionContext chunked(std::int64_t chunk) {
  AttentionContext c = small_step();
  c.model.attention_chunk = chunk;
  c.model.layer_types = {LayerType::chunked_attention, LayerType::full_attention};
  return c;
}

TEST(LayerTypes, EachLayerReadsWhatItAttendsTo) {
  const StepGraph graph = build("{name: dense, kv_tier: near}", windowed(32));
  for (const int layer : {0, 2}) EXPECT_EQ(ledger(graph, layer).at("near read keys"), 2048);
  for (const int layer : {1, 3}) EXPECT_EQ(ledger(graph, layer).at("near read keys"), 4096);
  EXPECT_EQ(flops(graph, 1, Phase::attention), 2 * flops(graph, 0, Phase::attention));
}

// 64 positions are two chunks of 32, or two of 24 and 16 positions of the third.
TEST(LayerTypes, AChunkBeginsAtAMultipleOfItsLength) {
  const auto keys = [](std::int64_t chunk) {
    return ledger(build("{name: dense, kv_tier: near}", chunked(chunk)), 0).at("near read keys");
  };
  EXPECT_EQ(keys(32), 32 * 64);
  EXPECT_EQ(keys(24), 16 * 64);
  EXPECT_EQ(keys(63), 1 * 64);
  EXPECT_EQ(keys(100), 64 * 64);
}

TEST(LayerTypes, TheFootprintIsTheSumOverTheLayers) {
  EXPECT_EQ(footprint("{name: dense, kv_tier: near}", windowed(32)).at("near keys"),
            2 * 2048 + 2 * 4096);
  EXPECT_EQ(footprint("{name: dense, kv_tier: near}", chunked(24)).at("near keys"),
            2 * 1024 + 2 * 4096);
}

TEST(LayerTypes, AWindowAsLongAsTheContextChangesNothing) {
  for (const std::string yaml :
       {"{name: dense, kv_tier: far}", "{name: sparq, budget: 0.25, rank: 2}",
        "{name: maple, budget: 0.25, rank_ratio: 0.25, key_type: int8}",
        "{name: streaming_llm, window: 60}", "{name: h2o, heavy: 0.125, recent: 0.125}"}) {
    const StepGraph plain = build(yaml);
    const StepGraph mixed = build(yaml, windowed(64));
    for (int layer = 0; layer < 4; ++layer) {
      EXPECT_EQ(ledger(mixed, layer), ledger(plain, layer)) << yaml << layer;
      EXPECT_EQ(flops(mixed, layer, Phase::attention), flops(plain, layer, Phase::attention));
    }
  }
}

// Layers 0 and 2 of a mixed model are those of a model whose layers all have the window.
TEST(LayerTypes, ALayerIsThatOfAModelOfItsTypeAlone) {
  AttentionContext all = small_step();
  all.model.attention_window = 32;
  for (const std::string yaml :
       {"{name: dense, kv_tier: far}", "{name: sparq, budget: 0.25, rank: 2}",
        "{name: quest, budget: 0.25, dense_layers: 0}", "{name: h2o, heavy: 0.5, recent: 0.25}"}) {
    const StepGraph mixed = build(yaml, windowed(32));
    const StepGraph alone = build(yaml, all);
    for (const int layer : {0, 2}) EXPECT_EQ(ledger(mixed, layer), ledger(alone, layer)) << yaml;
  }
}

// Pairs of a prompt of 64: 64 * 65 / 2 = 2080; under a window of 32, 32 * 33 / 2 + 32 * 32 = 1552;
// in chunks of 24, 24 * 25 / 2 twice and 16 * 17 / 2 = 736.
TEST(LayerTypes, APromptAttendsByTheLayersTypes) {
  const auto of = [](AttentionContext c, int layer) {
    c.step.kind = StepKind::prefill;
    return flops(build("{name: dense, kv_tier: near}", c), layer, Phase::attention);
  };
  const auto whole = of(windowed(32), 1);
  EXPECT_EQ(of(windowed(32), 0) * 2080, whole * 1552);
  EXPECT_EQ(of(chunked(24), 0) * 2080, whole * 736);
}

// 4 layers on 2 stages; of 5, the last stage has 3, from the third on.
TEST(LayerTypes, AStageKeepsTheTypesOfItsLayers) {
  LlmConfig m = windowed(32).model;
  m.layers = 5;
  const LlmConfig last = shard_of(m, {.pipeline = 2});
  EXPECT_EQ(last.layers, 3);
  EXPECT_EQ(last.part->stage, PipelineStage::last);
  EXPECT_EQ(last.part->first_layer, 2);
  EXPECT_EQ(last.type_of(0), LayerType::sliding_attention);
  EXPECT_EQ(last.type_of(1), LayerType::full_attention);
  m.layers = 4;
  m.layer_types = {LayerType::full_attention, LayerType::full_attention,
                   LayerType::sliding_attention, LayerType::sliding_attention};
  EXPECT_FALSE(shard_of(m, {.pipeline = 2}).mixes_types());
}

TEST(LayerTypes, ContextsHaveTheLayersOfEachType) {
  const AttentionContext c = windowed(32);
  const LayerContexts contexts(c);
  ASSERT_EQ(contexts.all().size(), 2U);
  EXPECT_EQ(contexts.all()[0]->model.layers, 2);
  EXPECT_EQ(contexts.of(2).model.attended(64), 32);
  EXPECT_EQ(contexts.of(3).model.attended(64), 64);
  const AttentionContext plain = small_step();
  EXPECT_EQ(&LayerContexts(plain).of(1), &plain);
}

}  // namespace
}  // namespace tiersim::testing::layer_types_test
