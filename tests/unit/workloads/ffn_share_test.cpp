// MLPs and experts on GPUs of their own: weights, bytes and operations of small steps, by hand.
#include "workloads/llm/ffn_share.hpp"

#include <numeric>

#include "tests/unit/workloads/small_step.hpp"

namespace tiersim::testing::ffn_share_test {
namespace {

constexpr TierId kFfn{2};
const std::vector<std::string> kTiers{"near", "far", "ffn.near"};

// Two groups of one GPU attend; `gpus` GPUs have the MLPs of the small step.
AttentionContext apart(std::int64_t gpus, ExpertSharing experts, std::optional<MoeConfig> moe) {
  AttentionContext c = small_step();
  c.model.moe = moe;
  c.step.expert_load = ExpertLoadConfig{.law = ExpertLaw::even};
  c.ffn = std::make_shared<const FfnShare>(FfnShare{
      .model = c.model,
      .parallel = {.tensor = gpus, .attention = AttentionSharing::data, .experts = experts},
      .groups = 2,
      .micro_batches = 1,
      .near = kFfn});
  c.model = attention_part(c.model);
  return c;
}

MoeConfig eight_experts() {
  return {.experts = 8, .experts_per_token = 2, .shared_experts = 1, .expert_intermediate = 16};
}

StepGraph graph_of(const AttentionContext& c) {
  return build_step(c, *method("{name: dense, kv_tier: near}"), kTiers);
}

std::vector<const Op*> sends(const StepGraph& graph, GpuRole from) {
  std::vector<const Op*> out;
  for (const Op& op : graph.ops)
    if (op.kind == OpKind::collective && op.collective.fabric == Fabric::ffn && op.role == from)
      out.push_back(&op);
  return out;
}

Bytes weights_in(const StepGraph& graph, TierId tier) {
  Bytes out;
  for (const Tensor& tensor : graph.tensors)
    if (tensor.tier == tier && tensor.tensor_class == TensorClass::weights) out += tensor.size;
  return out;
}

std::int64_t sum(const WeightParts& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
}

TEST(FfnShare, WithTheAttentionItHasAllWeights) {
  for (const auto& moe : {std::optional<MoeConfig>{}, std::optional(eight_experts())}) {
    const AttentionContext c = apart(1, ExpertSharing::split, moe);
    EXPECT_EQ(c.model.parameters() + sum(ffn_weights(*c.ffn)), c.ffn->model.parameters());
  }
}

// A layer's MLP has 3 * 32 * 64 weights, its experts 8 * 3 * 32 * 16 and a shared one, and the
// router 32 * 8. A shared expert is whole on each GPU where experts are.
TEST(FfnShare, GpusHaveEqualPartsOfIt) {
  const auto part = [](const WeightParts& parts, WeightPart which) {
    return parts[static_cast<std::size_t>(which)];
  };
  const WeightParts dense = ffn_weights(*apart(4, ExpertSharing::split, {}).ffn);
  EXPECT_EQ(part(dense, WeightPart::mlp), 4 * 3 * 32 * 64 / 4);
  EXPECT_EQ(sum(dense), part(dense, WeightPart::mlp));
  const WeightParts split = ffn_weights(*apart(4, ExpertSharing::split, eight_experts()).ffn);
  EXPECT_EQ(part(split, WeightPart::experts), 4 * 8 * 3 * 32 * 16 / 4);
  EXPECT_EQ(part(split, WeightPart::shared_experts), 4 * 3 * 32 * 16 / 4);
  EXPECT_EQ(part(split, WeightPart::router), 4 * 32 * 8);
  const FfnShare& whole = *apart(4, ExpertSharing::spread, eight_experts()).ffn;
  const WeightParts spread = ffn_weights(whole);
  EXPECT_EQ(part(spread, WeightPart::experts), 4 * 2 * 3 * 32 * 16);
  EXPECT_EQ(part(spread, WeightPart::shared_experts), 4 * 3 * 32 * 16);
  EXPECT_EQ(part(spread, WeightPart::router), 0);
  EXPECT_EQ(router_weights_beside_attention(whole), 4 * 32 * 8);
}

TEST(FfnShare, FootprintIsOfBothKinds) {
  const AttentionContext c = apart(4, ExpertSharing::spread, eight_experts());
  const StepGraph graph = graph_of(c);
  EXPECT_EQ(weights_in(graph, kFfn), stored(sum(ffn_weights(*c.ffn)), DataType::fp16));
  EXPECT_EQ(weights_in(graph, kNear), stored(c.model.parameters() + 4 * 32 * 8, DataType::fp16));
}

// Every pair of experts, and the GPUs with one of them.
TEST(FfnShare, GpusOfATokenAreThoseOfAllChoices) {
  constexpr int kExperts = 8;
  for (const int ranks : {1, 2, 4, 8}) {
    double gpus = 0;
    int choices = 0;
    for (int a = 0; a < kExperts; ++a)
      for (int b = a + 1; b < kExperts; ++b, ++choices)
        gpus += a * ranks / kExperts == b * ranks / kExperts ? 1 : 2;
    EXPECT_NEAR(gpus_of_token(kExperts, 2, ranks), gpus / choices, 1e-12) << ranks;
  }
  EXPECT_NEAR(gpus_of_token(8, 8, 4), 4, 1e-12);
}

// Each of two GPUs sends its two tokens once, 2 * 32 * 2 B; four GPUs get a token each.
TEST(FfnShare, SplitExpertsGetEachTokenOnce) {
  const StepGraph graph = graph_of(apart(4, ExpertSharing::split, eight_experts()));
  const auto there = sends(graph, GpuRole::main);
  ASSERT_EQ(there.size(), 4U);
  EXPECT_EQ(there[0]->collective.size, Bytes::from_base(128));
  EXPECT_EQ(there[0]->collective.received, Bytes::from_base(64));
  const auto back = sends(graph, GpuRole::ffn);
  ASSERT_EQ(back.size(), 4U);
  EXPECT_EQ(back[0]->collective.size, Bytes::from_base(64));
  EXPECT_EQ(back[0]->collective.received, Bytes::from_base(128));
}

// Two of eight experts lie on 4 (1 - 6/8 * 5/7) = 13/7 of four GPUs: 2 * 13/7, or 4 rows from each
// GPU that attends, and 4 * 13/7 / 4, or 2 rows to each with experts. FP8 rows have half the bytes.
TEST(FfnShare, SpreadExpertsGetATokenOnEachOfTheirGpus) {
  AttentionContext c = apart(4, ExpertSharing::spread, eight_experts());
  FfnShare share = *c.ffn;
  share.parallel.dispatch_type = DataType::fp8;
  c.ffn = std::make_shared<const FfnShare>(share);
  const StepGraph graph = graph_of(c);
  const Op& there = *sends(graph, GpuRole::main).front();
  EXPECT_EQ(there.collective.size, Bytes::from_base(4 * 32));
  EXPECT_EQ(there.collective.received, Bytes::from_base(2 * 32));
  const Op& back = *sends(graph, GpuRole::ffn).front();
  EXPECT_EQ(back.collective.size, Bytes::from_base(2 * 32 * 2));
  EXPECT_EQ(back.collective.received, Bytes::from_base(4 * 32 * 2));
}

TEST(FfnShare, EachKindOfGpuUsesItsOwnMemory) {
  for (const ExpertSharing experts : {ExpertSharing::split, ExpertSharing::spread}) {
    const StepGraph graph = graph_of(apart(4, experts, eight_experts()));
    for (const Op& op : graph.ops) {
      if (op.kind == OpKind::collective && op.collective.fabric == Fabric::ffn) continue;
      for (const Access& access : op.accesses)
        EXPECT_EQ(access.tier == kFfn, op.role == GpuRole::ffn) << describe_op(op);
    }
  }
}

// One group and one GPU with the MLPs: the same products as on a GPU that has all.
TEST(FfnShare, OperationsAreThoseOfOneGpu) {
  AttentionContext c = apart(1, ExpertSharing::split, eight_experts());
  FfnShare share = *c.ffn;
  share.groups = 1;
  c.ffn = std::make_shared<const FfnShare>(share);
  AttentionContext one = small_step();
  one.model.moe = eight_experts();
  one.step.expert_load = c.step.expert_load;
  const auto flops = [](const StepGraph& graph) {
    Flops all;
    for (const Op& op : graph.ops) all += op.flops;
    return all;
  };
  EXPECT_EQ(flops(graph_of(c)),
            flops(build_step(one, *method("{name: dense, kv_tier: near}"), {"near", "far"})));
}

TEST(FfnShare, MicroBatchesAreInOrderOnBothKinds) {
  AttentionContext c = apart(1, ExpertSharing::split, {});
  FfnShare share = *c.ffn;
  share.micro_batches = 2;
  c.ffn = std::make_shared<const FfnShare>(share);
  const StepGraph graph = graph_of(c);
  for (const GpuRole role : {GpuRole::main, GpuRole::ffn}) {
    OpId last;
    int layer = -1;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      const Op& op = graph.ops[i];
      if (op.kind != OpKind::compute || op.role != role) continue;
      EXPECT_TRUE(!last.valid() || std::ranges::count(op.after, last) == 1) << i;
      EXPECT_TRUE(op.layer < 0 || op.layer >= layer) << i;
      layer = std::max(layer, op.layer);
      last = OpId(i);
    }
  }
  EXPECT_EQ(sends(graph, GpuRole::main).size(), 8U);
}

}  // namespace
}  // namespace tiersim::testing::ffn_share_test
