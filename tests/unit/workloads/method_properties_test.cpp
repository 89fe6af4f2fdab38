// Properties of every method, for all settings, models and steps.
#include <functional>
#include <tuple>

#include "tests/unit/workloads/small_step.hpp"

namespace tiersim::testing::method_properties_test {
namespace {

const std::string kHotRows =
    "{name: maple, budget: 0.1, rank_ratio: 0.25, key_type: int8, fetch: {hot_rows: {share: 0.5, "
    "hit_rate: 0.4}}}";
const std::string kShadowOfEngines =
    "{name: shadowkv, budget: 0.5, rank: 3, chunk: 5, outliers: 0, local: 1, fetch: {by: "
    "copy_engine, choose_per: query_head, hot_rows: {share: 0.25, hit_rate: 0.4}}}";
const std::string kNsaOfEngines =
    "{name: nsa, block: 6, stride: 5, chosen_block: 5, chosen: 3, fixed: 1, window: 9, kv_tier: "
    "far, fetch: {by: copy_engine}}";
const std::vector<std::string> kMethods{
    "{name: dense, kv_tier: near}",
    "{name: dense, kv_tier: far}",
    "{name: layer_prefetch}",
    "{name: tiered, near_share: 0.3}",
    "{name: tiered, near_positions: 9, buffers: 1}",
    "{name: sparq, budget: 0.25, rank: 2}",
    "{name: sparq, budget: 0.1, rank: 2, key_copies: 1, fetch: {by: copy_engine, page: 4}}",
    "{name: maple, budget: 0.25, rank_ratio: 0.25, key_type: int8}",
    "{name: maple, budget: 0.3, rank_ratio: 0.5, key_type: int4, fetch: {choose_per: query_head}}",
    kHotRows,
    "{name: quest, budget: 0.25}",
    "{name: quest, budget: 0.25, page: 5, kv_tier: near, dense_layers: 0}",
    "{name: quest, budget: 0.25, page: 8, bounds_tier: far, fetch: {choose_per: query_head}}",
    "{name: loki, budget: 0.25, rank: 2}",
    "{name: loki, budget: 0.25, rank: 2, kv_tier: near}",
    "{name: infinigen, budget: 0.25}",
    "{name: infinigen, budget: 0.1, dense_layers: 0, fetch: {page: 4, near_share: 0.3}}",
    "{name: shadowkv, budget: 0.25, rank: 6, outliers: 1, local: 2}",
    kShadowOfEngines,
    "{name: nsa, block: 8, stride: 4, chosen_block: 8, chosen: 4, fixed: 2, window: 12}",
    kNsaOfEngines,
    "{name: h2o, heavy: 0.125, recent: 0.2}",
    "{name: streaming_llm, sinks: 4, window: 12}",
};

class AnyMethod : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(All, AnyMethod, ::testing::ValuesIn(kMethods),
                         [](const auto& test) { return "Number" + std::to_string(test.index); });

Ledger all_layers(const StepGraph& graph) {
  Ledger out;
  for (int layer = 0; layer < 4; ++layer)
    for (const auto& [what, bytes] : ledger(graph, layer))
      if (what != "near read weights") out[what] += bytes;
  return out;
}

TEST_P(AnyMethod, MovesTheSameInMicroBatches) {
  AttentionContext c = small_step();
  c.step.batch = 5;
  const Ledger whole = all_layers(build(GetParam(), c));
  c.step.overlap = Overlap::micro_batches;
  EXPECT_EQ(all_layers(build(GetParam(), c)), whole);
}

TEST_P(AnyMethod, WritesItsCacheInAPrefill) {
  for (const std::int64_t window : {0, 20}) {
    AttentionContext c = small_step();
    c.step.kind = StepKind::prefill;
    if (window > 0) c.model.attention_window = window;
    Ledger written;
    const StepGraph graph = build(GetParam(), c);
    for (const Op& op : graph.ops)
      for (const Access& a : op.accesses)
        if (a.direction == Direction::write && is_kv_cache(a.tensor_class))
          written[tier_name(a.tier) + ' ' + std::string(name(a.tensor_class))] +=
              static_cast<int>(a.payload.in_base());
    Ledger kept;
    for (const Tensor& t : graph.tensors)
      if (is_kv_cache(t.tensor_class) && t.tensor_class != TensorClass::row_cache)
        kept[tier_name(t.tier) + ' ' + std::string(name(t.tensor_class))] +=
            static_cast<int>(t.size.in_base());
    EXPECT_EQ(written, kept) << "window " << window;
  }
}

TEST_P(AnyMethod, TakesAnyModelAndContext) {
  std::vector<LlmConfig> models(4, small_step().model);
  models[1].kv_heads = 4;
  models[1].mla =
      MlaConfig{.kv_lora_rank = 12, .qk_nope_head_dim = 4, .qk_rope_head_dim = 4, .v_head_dim = 8};
  models[2].encoder = EncoderConfig{2};
  models[3].attention_window = 7;
  for (const LlmConfig& model : models)
    for (const StepKind kind : {StepKind::decode, StepKind::prefill})
      for (const Overlap overlap :
           {Overlap::serial, Overlap::prefetch_screening, Overlap::micro_batches})
        for (std::int64_t context = 1; context <= 40; ++context) {
          AttentionContext c = small_step();
          c.model = model;
          c.step = {.kind = kind, .batch = 3, .context = context, .overlap = overlap};
          if (model.encoder) c.step.encoder_context = 9;
          EXPECT_GT(build(GetParam(), c).ops.size(), 4U);  // and no contract is broken
        }
}

// Rows that attention needs, from either tier.
std::int64_t row_bytes(const StepGraph& graph) {
  std::int64_t sum = 0;
  for (const Op& op : graph.ops)
    if (op.phase == Phase::gather)
      for (const Access& a : op.accesses)
        if (a.tier == kFar) sum += a.payload.in_base();
  return sum;
}

TEST(Budget, MoreOfItNeverFetchesLessAndAllOfItIsDense) {
  const std::int64_t dense = row_bytes(build("{name: dense, kv_tier: far}"));
  for (const std::string& method :
       {std::string("sparq, rank: 2"), std::string("loki, rank: 2"),
        std::string("maple, rank_ratio: 0.25, key_type: int8"),
        std::string("infinigen, dense_layers: 0"), std::string("quest, dense_layers: 0, page: 3")})
    for (const std::string& fetch :
         {std::string("by: sm"), std::string("choose_per: query_head"),
          std::string("choose_per: query_head, head_overlap: 0.3"), std::string("page: 5")}) {
      if (method.starts_with("quest") && fetch.starts_with("page")) continue;
      std::int64_t before = 0;
      for (int budget = 1; budget <= 128; ++budget) {
        std::string yaml = "{name: ";
        yaml.append(method).append(", budget: ").append(std::to_string(budget / 128.0));
        yaml.append(", fetch: {").append(fetch).append("}}");
        const std::int64_t now = row_bytes(build(yaml));
        ASSERT_GE(now, before) << yaml;
        ASSERT_LE(now, dense) << yaml;
        before = now;
      }
      EXPECT_EQ(before, dense) << method << ", " << fetch;
    }
}

}  // namespace
}  // namespace tiersim::testing::method_properties_test
