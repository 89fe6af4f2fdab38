// `tiered` in a layer of small_step.hpp, by hand: of 64 positions, a quarter (16) near and 48 far;
// 4 pairs of sequence and KV head, rows of 16 B, so 1024 B of keys near and 3072 B far, and as many
// of values. 8 query heads over the batch: outputs of 8 * 8 * 2 B = 128 B, sums of 8 * 4 B = 32 B.
#include "tests/unit/workloads/small_step.hpp"

namespace tiersim::testing::tiered_test {
namespace {

constexpr int kDenseFlops = 4 * 8 * 64 * 8;  // query heads of the batch, positions, width
constexpr int kMergeFlops = 3 * 8 * 8;       // query heads of the batch, width
const std::string kQuarter = "{name: tiered, near_share: 0.25}";

std::vector<Op> attention_ops(const StepGraph& graph, int layer) {
  std::vector<Op> out;
  for (const Op& op : graph.ops)
    if (op.layer == layer && op.phase == Phase::attention) out.push_back(op);
  return out;
}

OpId only(const StepGraph& graph, int layer, Phase phase) {
  OpId found;
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].layer == layer && graph.ops[i].phase == phase) {
      EXPECT_FALSE(found.valid());
      found = OpId(i);
    }
  return found;
}

bool waits(const Op& op, OpId before) {
  return std::ranges::find(op.after, before) != op.after.end();
}

TEST(Tiered, ReadsEachRowWhereItIsAndMovesOneRowOut) {
  const StepGraph graph = build(kQuarter);
  EXPECT_EQ(ledger(graph, 1), (Ledger{{"near read keys", 1024},
                                      {"near read values", 1024},
                                      {"far read keys", 3072},
                                      {"far read values", 3072},
                                      {"near write staging", 6144},
                                      {"near read staging", 6144},
                                      {"near write keys", 64},
                                      {"near write values", 64},
                                      {"far write keys", 64},
                                      {"far write values", 64},
                                      {"near write workspace", 64},
                                      {"near read workspace", 64}}));
  EXPECT_EQ(far_reads(graph, 1), 1);
  EXPECT_EQ(runs(graph, 1, kFar, TensorClass::keys), (std::vector<int>{48 * 16}));
}

TEST(Tiered, KeepsEachRowOnceAndStagesTheFarOnes) {
  EXPECT_EQ(footprint("{name: tiered, near_share: 0.25, buffers: 3}"),
            (Ledger{{"near keys", 4 * 1024},
                    {"near values", 4 * 1024},
                    {"far keys", 4 * 3072},
                    {"far values", 4 * 3072},
                    {"near staging", 3 * 6144},
                    {"near workspace", 2 * (128 + 32)}}));
}

TEST(Tiered, AttendsInTwoPartsAndMergesThem) {
  const StepGraph graph = build(kQuarter);
  EXPECT_EQ(flops(graph, 1, Phase::attention), kDenseFlops + kMergeFlops);
  const std::vector<Op> ops = attention_ops(graph, 1);
  ASSERT_EQ(ops.size(), 3U);
  EXPECT_EQ(ops[0].flops.in_base(), kDenseFlops / 4);
  EXPECT_EQ(ops[1].flops.in_base(), kDenseFlops * 3 / 4);
  EXPECT_EQ(ops[2].family, KernelFamily::elementwise);
  std::int64_t outputs = 0;
  for (const Access& a : ops[2].accesses)
    if (a.tensor_class == TensorClass::activations && a.direction == Direction::read)
      outputs += a.payload.in_base();
  EXPECT_EQ(outputs, 2 * 128);
  EXPECT_EQ(ops[2].accesses.back().payload.in_base(), 128);
}

TEST(Tiered, NearRowsDoNotWaitForTheCopy) {
  const StepGraph graph = build(kQuarter);
  const OpId copied = only(graph, 3, Phase::gather);
  const std::vector<Op> ops = attention_ops(graph, 3);
  EXPECT_FALSE(waits(ops[0], copied));
  EXPECT_TRUE(waits(ops[1], copied));
}

// The copy of layer 3 follows that of layer 2; into two buffers once layer 1 has merged, into one
// once layer 2 has.
TEST(Tiered, CopiesRunAheadByAsManyLayersAsThereAreBuffers) {
  for (const int buffers : {1, 2}) {
    const StepGraph graph =
        build("{name: tiered, near_share: 0.25, buffers: " + std::to_string(buffers) + "}");
    const Op& copy = graph.ops[only(graph, 3, Phase::gather).index()];
    EXPECT_TRUE(waits(copy, only(graph, 2, Phase::gather)));
    ASSERT_EQ(copy.after.size(), 2U);
    const Op& freed = graph.ops[copy.after.back().index()];
    EXPECT_EQ(freed.layer, 3 - buffers);
    EXPECT_EQ(freed.family, KernelFamily::elementwise);
    EXPECT_EQ(freed.phase, Phase::attention);
  }
}

// Operations, accesses and tensors one by one.
void expect_same(const StepGraph& a, const StepGraph& b) {
  ASSERT_EQ(a.ops.size(), b.ops.size());
  for (std::size_t i = 0; i < a.ops.size(); ++i) {
    EXPECT_EQ(a.ops[i].phase, b.ops[i].phase) << i;
    EXPECT_EQ(a.ops[i].after, b.ops[i].after) << i;
    EXPECT_EQ(a.ops[i].flops, b.ops[i].flops) << i;
    ASSERT_EQ(a.ops[i].accesses.size(), b.ops[i].accesses.size()) << i;
    for (std::size_t j = 0; j < a.ops[i].accesses.size(); ++j) {
      EXPECT_EQ(a.ops[i].accesses[j].tier, b.ops[i].accesses[j].tier) << i;
      EXPECT_EQ(a.ops[i].accesses[j].payload, b.ops[i].accesses[j].payload) << i;
      EXPECT_EQ(a.ops[i].accesses[j].run, b.ops[i].accesses[j].run) << i;
    }
  }
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    EXPECT_EQ(a.tensors[i].tier, b.tensors[i].tier) << i;
    EXPECT_EQ(a.tensors[i].size, b.tensors[i].size) << i;
  }
}

TEST(Tiered, AllRowsNearIsDenseAndNoneIsLayerPrefetch) {
  for (const StepKind kind : {StepKind::decode, StepKind::prefill}) {
    AttentionContext c = small_step();
    c.step.kind = kind;
    const StepGraph near = build("{name: dense, kv_tier: near}", c);
    expect_same(build("{name: tiered, near_share: 1}", c), near);
    expect_same(build("{name: tiered, near_positions: 1000}", c), near);
    expect_same(build("{name: tiered, near_share: 0, buffers: 3}", c),
                build("{name: layer_prefetch, buffers: 3}", c));
  }
}

TEST(Tiered, CountsPositionsOrAShare) {
  EXPECT_EQ(footprint("{name: tiered, near_positions: 16}"), footprint(kQuarter));
  // 15.4 of 64 positions are 16: what is asked for near is near.
  EXPECT_EQ(footprint("{name: tiered, near_share: 0.24}"), footprint(kQuarter));
}

// 2 sequences x 64 positions x one row of 12 + 4 elements, 2 B each, for all heads.
TEST(Tiered, SplitsLatents) {
  AttentionContext c = small_step();
  c.model.kv_heads = 4;
  c.model.mla =
      MlaConfig{.kv_lora_rank = 12, .qk_nope_head_dim = 4, .qk_rope_head_dim = 4, .v_head_dim = 8};
  const Ledger kept = footprint(kQuarter, c);
  EXPECT_EQ(kept.at("near keys"), 4 * 2 * 16 * 32);
  EXPECT_EQ(kept.at("far keys"), 4 * 2 * 48 * 32);
  EXPECT_FALSE(kept.contains("far values"));
  // Outputs are as wide as the latent: 8 heads of 12 elements.
  EXPECT_EQ(kept.at("near workspace"), 2 * (8 * 12 * 2 + 32));
}

std::string mistakes(const std::string& yaml) {
  Diagnostics diagnostics;
  const Document document = load_text(yaml, "method", {.importers = make_importers()}, diagnostics);
  static_cast<void>(read<NamedMethod>(document, "method", diagnostics));
  return diagnostics.text();
}

TEST(Tiered, TakesOneOfTheTwoWaysToSplit) {
  EXPECT_NE(mistakes("{name: tiered}").find("near_share: is missing, and so is near_positions"),
            std::string::npos)
      << mistakes("{name: tiered}");
  EXPECT_NE(mistakes("{name: tiered, near_share: 0.5, near_positions: 3}")
                .find("near_share: cannot stand beside near_positions"),
            std::string::npos);
  EXPECT_NE(mistakes("{name: tiered, near_share: 1.5}").find("is out of range"), std::string::npos);
}

}  // namespace
}  // namespace tiersim::testing::tiered_test
