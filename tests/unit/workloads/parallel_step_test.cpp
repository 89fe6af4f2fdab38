// The step of one of the GPUs that share a model: its collectives, and what all of them together
// read and compute, by hand. Models as in parallel_models.hpp; 4 sequences of 10 positions, so that
// their hidden states are 4 * 32 * 2 B = 256 B.
#include <gtest/gtest.h>

#include "tests/unit/workloads/parallel_models.hpp"
#include "workloads/llm/shard.hpp"

namespace tiersim::parallel_step_test {
namespace {

using testing::collectives;
using testing::dense_step;
using testing::flops_of;
using testing::moved;
using testing::replica;
using testing::small_experts;
using testing::small_latent;
using Texts = std::vector<std::string>;

constexpr ParallelConfig kTwo{.tensor = 2};
constexpr ParallelConfig kSliced{.tensor = 2, .latent_slices = 2};
constexpr ParallelConfig kSplit{
    .tensor = 2, .latent_slices = 2, .output_projection = OutputProjection::split};
constexpr ParallelConfig kByData{.tensor = 2, .attention = AttentionSharing::data};

// Two groups of two GPUs, each group with 2 of the 4 sequences.
constexpr ParallelConfig kInPairs{
    .tensor = 4, .attention = AttentionSharing::data, .attention_tensor = 2};

ParallelConfig with_spread_experts(ParallelConfig p) {
  p.experts = ExpertSharing::spread;
  return p;
}

// Rows of the vocabulary are added up; logits, 4 * 100 * 2 B, are gathered.
TEST(Collectives, OfTheVocabulary) {
  for (const ParallelConfig& p : {kTwo, kSliced, kSplit})
    EXPECT_EQ(collectives(dense_step(replica(small_latent(), p)), -1),
              (Texts{"all_reduce tensor 2 256 B", "all_gather tensor 2 800 B"}));
  // By data: each GPU takes its sequences; the head has those of all, and logits go back.
  EXPECT_EQ(collectives(dense_step(replica(small_latent(), kByData)), -1),
            (Texts{"reduce_scatter tensor 2 256 B", "all_gather tensor 2 256 B",
                   "all_gather tensor 2 400 B"}));
}

TEST(Collectives, OneGpuHasNone) {
  EXPECT_EQ(collectives(dense_step(replica(small_experts(), {}))), Texts{});
  EXPECT_EQ(collectives(dense_step(replica(small_latent(), {.attention = AttentionSharing::data}))),
            Texts{});
}

TEST(Collectives, OfHeadsAreOneAfterAttentionAndOneAfterTheMlp) {
  const Texts two{"all_reduce tensor 2 256 B", "all_reduce tensor 2 256 B"};
  for (const ParallelConfig& p : {kTwo, kSliced})
    for (const int layer : {0, 1}) {
      EXPECT_EQ(collectives(dense_step(replica(small_latent(), p)), layer), two);
      EXPECT_EQ(collectives(dense_step(replica(small_experts(), p)), layer), two);
      EXPECT_EQ(collectives(dense_step(replica(small_experts(), with_spread_experts(p))), layer),
                two);
    }
  LlmConfig m = small_experts();
  m.moe->removed = true;
  for (const ParallelConfig& p : {kTwo, kSliced})
    EXPECT_EQ(collectives(dense_step(replica(m, p)), 1), Texts{"all_reduce tensor 2 256 B"});
}

// Values of the heads that a GPU has, 4 tokens of 4 values of 2 B each, meet those of the other
// slices.
TEST(Collectives, OfASplitOutputProjectionAddUpTheSlicesFirst) {
  EXPECT_EQ(collectives(dense_step(replica(small_latent(), kSplit)), 0),
            (Texts{"reduce_scatter tensor 2 128 B", "all_reduce tensor 2 256 B",
                   "all_reduce tensor 2 256 B"}));
  ParallelConfig four = kSplit;
  four.tensor = 4;  // 2 slices of 2 heads a GPU
  EXPECT_EQ(collectives(dense_step(replica(small_latent(), four)), 0),
            (Texts{"reduce_scatter tensor 2 64 B", "all_reduce tensor 4 256 B",
                   "all_reduce tensor 4 256 B"}));
}

TEST(Collectives, OfAttentionByDataAreAroundTheMlp) {
  EXPECT_EQ(collectives(dense_step(replica(small_latent(), kByData)), 0),
            (Texts{"all_gather tensor 2 256 B", "reduce_scatter tensor 2 256 B"}));
  EXPECT_EQ(collectives(dense_step(replica(small_experts(), kByData)), 1),
            (Texts{"all_gather tensor 2 256 B", "reduce_scatter tensor 2 256 B"}));
}

// Two GPUs add up 2 tokens, of which each keeps one; all four gather 4. Afterwards the two have
// both again.
TEST(Collectives, OfGroupsThatAttendTogetherAreAroundThoseOfAll) {
  const Texts gathered{"reduce_scatter tensor 2 128 B", "all_gather tensor 4 256 B",
                       "reduce_scatter tensor 4 256 B", "all_gather tensor 2 128 B"};
  EXPECT_EQ(collectives(dense_step(replica(small_latent(), kInPairs)), 0), gathered);
  EXPECT_EQ(collectives(dense_step(replica(small_experts(), kInPairs)), 1), gathered);
  EXPECT_EQ(collectives(dense_step(replica(small_latent(), kInPairs)), -1),
            (Texts{"reduce_scatter tensor 4 256 B", "all_gather tensor 2 128 B",
                   "all_gather tensor 4 256 B", "all_gather tensor 4 400 B"}));
  ParallelConfig own = kInPairs;
  own.dense = DenseSharing::data;  // dense MLPs and the vocabulary are of the group alone
  EXPECT_EQ(collectives(dense_step(replica(small_latent(), own)), 0),
            (Texts{"all_reduce tensor 2 128 B", "all_reduce tensor 2 128 B"}));
  EXPECT_EQ(collectives(dense_step(replica(small_latent(), own)), -1),
            (Texts{"all_reduce tensor 2 128 B", "all_gather tensor 2 400 B"}));
}

// Each GPU sends the one token that is its part to 2 experts, 2 * 32 * 2 B.
TEST(Collectives, OfGroupsThatAttendTogetherSendATokenOnce) {
  EXPECT_EQ(collectives(dense_step(replica(small_experts(), with_spread_experts(kInPairs))), 1),
            (Texts{"reduce_scatter tensor 2 128 B", "all_to_all experts 4 128 B",
                   "all_to_all experts 4 128 B", "all_gather tensor 2 128 B"}));
}

// Its 2 tokens go to 2 experts each, 2 * 2 * 32 * 2 B, and back.
TEST(Collectives, OfSpreadExpertsSendEachTokenToThem) {
  const StepGraph graph = dense_step(replica(small_experts(), with_spread_experts(kByData)));
  EXPECT_EQ(collectives(graph, 0),  // a plain MLP
            (Texts{"all_gather tensor 2 256 B", "reduce_scatter tensor 2 256 B"}));
  EXPECT_EQ(collectives(graph, 1),
            (Texts{"all_to_all experts 2 256 B", "all_to_all experts 2 256 B"}));
}

// Two stages, each micro-batch of 2 sequences: 2 * 32 * 2 B in, and no embedding.
TEST(Collectives, OfAPipelineAreWhatTheStageBeforeSends) {
  const StepGraph graph = dense_step(replica(small_latent(), {.pipeline = 2}));
  EXPECT_EQ(collectives(graph), (Texts{"send pipeline 2 128 B", "send pipeline 2 128 B"}));
  EXPECT_EQ(flops_of(graph, Phase::head), 2L * 4 * 32 * 100);
  for (const Op& op : graph.ops) EXPECT_NE(op.phase, Phase::embedding);
}

TEST(Collectives, AreReadAndWrittenInTheGpusOwnMemory) {
  for (const Op& op : dense_step(replica(small_latent(), kSplit)).ops)
    if (op.kind == OpKind::collective) {
      ASSERT_EQ(op.accesses.size(), 2U);
      for (const Access& a : op.accesses) EXPECT_EQ(a.payload, op.collective.size);
    }
}

// Small latent, in weights of a layer.
constexpr std::int64_t kQueryDown = 32 * 16;
constexpr std::int64_t kQueryUp = 16 * 4 * 6;
constexpr std::int64_t kLatent = 32 * 8;
constexpr std::int64_t kRope = 32 * 2;
constexpr std::int64_t kKeyUp = 4 * 4 * 8;
constexpr std::int64_t kValueUp = 4 * 8 * 4;
constexpr std::int64_t kOutput = 4 * 4 * 32;
constexpr std::int64_t kMlp = 3 * 32 * 64;

// Weights of the projections of all GPUs together: what is whole on each, on each slice, or once.
std::int64_t projections(const ParallelConfig& p) {
  const std::int64_t slices = p.latent_slices;
  const std::int64_t groups = p.tensor / slices;
  const bool split = p.output_projection == OutputProjection::split;
  return p.tensor * (kQueryDown + kRope) + groups * kLatent + slices * kQueryUp + kKeyUp +
         kValueUp + (split ? 1 : slices) * kOutput;
}

const std::vector<ParallelConfig> kOfHeads{
    {},
    {.tensor = 2},
    {.tensor = 4},
    {.tensor = 2, .latent_slices = 2},
    {.tensor = 4, .latent_slices = 2},
    {.tensor = 4, .latent_slices = 4},
    {.tensor = 4, .latent_slices = 2, .output_projection = OutputProjection::split}};

TEST(AllGpusTogether, ProjectWhatTheModelDoesAndWhatIsReplicated) {
  for (const ParallelConfig& p : kOfHeads) {
    const StepGraph graph = dense_step(replica(small_latent(), p));
    EXPECT_EQ(p.tensor * flops_of(graph, Phase::projection), 2L * 2 * 4 * projections(p));
    EXPECT_EQ(p.tensor * moved(graph, Phase::projection, Direction::read, TensorClass::weights),
              2L * 2 * projections(p));
    EXPECT_EQ(p.tensor * flops_of(graph, Phase::mlp), 2L * 2 * 4 * kMlp);
    EXPECT_EQ(p.tensor * moved(graph, Phase::mlp, Direction::read, TensorClass::weights),
              2L * 2 * kMlp);
    EXPECT_EQ(p.tensor * flops_of(graph, Phase::head), 2L * 4 * 32 * 100);
    EXPECT_EQ(p.tensor * moved(graph, Phase::head, Direction::read, TensorClass::weights),
              2L * 32 * 100);
  }
}

// Every slice scores its rotary key for every head: 2 FLOPs for each of 2 elements.
TEST(AllGpusTogether, AttendAsOneDoesAndScoreTheRotaryKeyOfEachSlice) {
  const std::int64_t pairs = 2L * 4 * 4 * 10;  // layers, batch, heads, positions
  for (const ParallelConfig& p : kOfHeads)
    EXPECT_EQ(p.tensor * flops_of(dense_step(replica(small_latent(), p)), Phase::attention),
              2 * pairs * (8 + 8) + p.latent_slices * 2 * pairs * 2);
}

// A GPU reads its slice and the rotary key: MLA's whole latent is read by every GPU.
TEST(AllGpusTogether, HoldAtLeastTheCacheOfTheModel) {
  for (const ParallelConfig& p : kOfHeads) {
    const StepGraph graph = dense_step(replica(small_latent(), p));
    const std::int64_t rows = 2L * 4 * 10 * 2;  // layers, batch, positions, bytes
    EXPECT_EQ(testing::kept(graph, TensorClass::keys), rows * (8 / p.latent_slices + 2));
    EXPECT_EQ(moved(graph, Phase::attention, Direction::read, TensorClass::keys),
              rows * (8 / p.latent_slices + 2));
    EXPECT_GE(p.latent_slices * testing::kept(graph, TensorClass::keys), rows * (8 + 2));
  }
}

// Attention by data: weights on every GPU, sequences on one.
TEST(AllGpusTogether, ByDataAttendOnceWithWeightsOnEveryGpu) {
  const StepGraph one = dense_step(replica(small_latent(), {}));
  const StepGraph both = dense_step(replica(small_latent(), kByData));
  for (const Phase phase : {Phase::projection, Phase::attention, Phase::mlp, Phase::head})
    EXPECT_EQ(2 * flops_of(both, phase), flops_of(one, phase)) << name(phase);
  EXPECT_EQ(moved(both, Phase::projection, Direction::read, TensorClass::weights),
            moved(one, Phase::projection, Direction::read, TensorClass::weights));
  EXPECT_EQ(2 * testing::kept(both, TensorClass::keys), testing::kept(one, TensorClass::keys));
}

// Groups of two, each like a replica of two GPUs with half of the sequences, but for the MLP.
TEST(AllGpusTogether, InGroupsAttendAsReplicasOfAGroupDo) {
  const StepGraph group = dense_step(replica(small_latent(), kInPairs));
  AttentionContext half = replica(small_latent(), kTwo);
  half.step.batch = 2;
  const StepGraph two = dense_step(half);
  for (const Phase phase : {Phase::projection, Phase::attention}) {
    EXPECT_EQ(flops_of(group, phase), flops_of(two, phase)) << name(phase);
    for (const TensorClass of : {TensorClass::weights, TensorClass::keys})
      EXPECT_EQ(moved(group, phase, Direction::read, of), moved(two, phase, Direction::read, of));
  }
  EXPECT_EQ(testing::kept(group, TensorClass::keys), testing::kept(two, TensorClass::keys));
  const StepGraph one = dense_step(replica(small_latent(), {}));
  for (const Phase phase : {Phase::mlp, Phase::head})
    EXPECT_EQ(4 * flops_of(group, phase), flops_of(one, phase)) << name(phase);
}

// With dense MLPs and vocabulary of its own, a group does what such a replica does, operation by
// operation, and needs as much room.
TEST(AllGpusTogether, AGroupByItselfIsAReplica) {
  ParallelConfig own = kInPairs;
  own.dense = DenseSharing::data;
  for (const NormKernels norms :
       {NormKernels::fused, NormKernels::kernels, NormKernels::with_all_reduce}) {
    AttentionContext group = replica(small_latent(), own);
    AttentionContext two = replica(small_latent(), kTwo);
    two.step.batch = 2;
    group.execution.norms = two.execution.norms = norms;
    const StepGraph of_group = dense_step(group);
    const StepGraph of_two = dense_step(two);
    ASSERT_EQ(of_group.ops.size(), of_two.ops.size());
    for (std::size_t i = 0; i < of_two.ops.size(); ++i) {
      EXPECT_EQ(of_group.ops[i].fused, of_two.ops[i].fused) << i;
      EXPECT_EQ(of_group.ops[i].flops, of_two.ops[i].flops) << i;
      EXPECT_EQ(of_group.ops[i].collective.size, of_two.ops[i].collective.size) << i;
      EXPECT_EQ(of_group.ops[i].collective.ranks, of_two.ops[i].collective.ranks) << i;
    }
    for (const TensorClass of : {TensorClass::weights, TensorClass::keys, TensorClass::activations,
                                 TensorClass::workspace})
      EXPECT_EQ(testing::kept(of_group, of), testing::kept(of_two, of)) << name(of);
  }
}

// With even loads, so that all GPUs add up to the batch. By chance a step is that of the GPU with
// most to do.
AttentionContext evenly(AttentionContext c) {
  c.step.expert_load = ExpertLoadConfig{.law = ExpertLaw::even};
  return c;
}

// 4 tokens pass 2 routed experts and the shared one; 2 FLOPs for each weight of 3 * 32 * 16.
TEST(AllGpusTogether, PassEachTokenThroughItsExpertsOnce) {
  const std::int64_t experts = 2L * 4 * (2 + 1) * 3 * 32 * 16;
  const std::int64_t router = 2L * 4 * 32 * 8;
  const auto all = [](const ParallelConfig& p) {
    return p.tensor *
           testing::flops(dense_step(evenly(replica(small_experts(), p))), 1, Phase::mlp);
  };
  EXPECT_EQ(all({}), experts + router);
  for (const ParallelConfig& p : {kTwo, kSliced, kByData, with_spread_experts(kTwo)})
    EXPECT_EQ(all(p), experts + 2 * router);                       // each GPU routes every token
  EXPECT_EQ(all(with_spread_experts(kByData)), experts + router);  // ... its own
  EXPECT_EQ(all(kInPairs), experts + 4 * router);
  EXPECT_EQ(all(with_spread_experts(kInPairs)), experts + router);
}

// 4 tokens reach 8 - 8 (6 / 8)^4 = 5.47 experts, 6, rounded up: 3 on each of two GPUs.
TEST(AllGpusTogether, ReadTheWeightsOfTheExpertsThatAreReached) {
  const std::int64_t expert = 2L * 3 * 32 * 16;
  const std::int64_t router = 2L * 32 * 8;
  const auto read = [&](const ParallelConfig& p) {
    std::int64_t sum = 0;
    for (const Op& op : dense_step(evenly(replica(small_experts(), p))).ops)
      if (op.layer == 1 && op.phase == Phase::mlp)
        for (const Access& a : op.accesses)
          if (a.tensor_class == TensorClass::weights) sum += a.payload.in_base();
    return sum - router;
  };
  EXPECT_EQ(read({}), (6 + 1) * expert);
  EXPECT_EQ(read(kTwo), (6 + 1) * expert / 2);
  EXPECT_EQ(read(kByData), (6 + 1) * expert / 2);
  EXPECT_EQ(read(with_spread_experts(kTwo)), 3 * expert + expert / 2);
  EXPECT_EQ(read(with_spread_experts(kByData)), (3 + 1) * expert);
}

// The residual stream twice, the widest product of the attention (48 = 32 + 16) for a GPU's own
// tokens or of the MLP for those of the group, and logits: its own rows, and those gathered.
TEST(Footprint, OfActivationsHasTheWidestProductAndTheLogits) {
  const auto activations = [](const ParallelConfig& p) {
    return testing::kept(dense_step(replica(small_latent(), p)), TensorClass::activations);
  };
  EXPECT_EQ(activations({}), 2 * ((64 + 64 + 32) * 4 + 4 * 100));
  EXPECT_EQ(activations(kTwo), 2 * ((64 + 32 + 32) * 4 + 4 * 50 + 4 * 100));
  EXPECT_EQ(activations(kByData), 2 * ((64 + 32 + 32) * 4 + 4 * 50 + 2 * 100));
}

// 10 positions of the prompt that a GPU works on; by data, those of two are gathered.
TEST(Footprint, OfAPrefillIsThatOfAPromptOnEachGpu) {
  const auto prefill = [](const LlmConfig& m, const ParallelConfig& p, TensorClass tensor_class) {
    return testing::kept(
        dense_step(replica(m, p, {.kind = StepKind::prefill, .batch = 4, .context = 10})),
        tensor_class);
  };
  const auto activations = TensorClass::activations;
  EXPECT_EQ(prefill(small_latent(), {}, activations), 2 * ((64 + 64 + 32) * 10 + 4 * 100));
  EXPECT_EQ(prefill(small_latent(), kByData, activations),
            2 * ((64 + 32 + 32) * 20 + 4 * 50 + 2 * 100));
  EXPECT_EQ(prefill(small_latent(), kTwo, TensorClass::workspace), 2 * 2 * 10 * 32);
  EXPECT_EQ(prefill(small_latent(), kByData, TensorClass::workspace), 2 * 2 * 20 * 32);
}

TEST(Footprint, OfExpertsThatAreRemovedIsNone) {
  LlmConfig m = small_experts();
  const auto activations = [&] {
    return testing::kept(dense_step(replica(m, {})), TensorClass::activations);
  };
  EXPECT_EQ(activations(), 2 * ((64 + (2 + 1) * (16 + 32)) * 4 + 4 * 100));
  m.moe->removed = true;
  EXPECT_EQ(activations(), 2 * ((64 + 64 + 32) * 4 + 4 * 100));
}

TEST(Footprint, OfWeightsIsThatOfTheGpusPart) {
  for (const ParallelConfig& p : kOfHeads)
    EXPECT_EQ(testing::kept(dense_step(replica(small_latent(), p)), TensorClass::weights),
              2 * shard_of(small_latent(), p).parameters());
}

}  // namespace
}  // namespace tiersim::parallel_step_test
