// Prefills, forms of latent attention, and regions of a step on the GPUs that share a model. Small
// latent as in parallel_models.hpp: 4 heads with keys of 4 + 2 and values of 4; cached latent 8
// + 2.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/workloads/parallel_models.hpp"

namespace tiersim::parallel_prefill_test {
namespace {

using testing::dense_step;
using testing::flops_of;
using testing::moved;
using testing::replica;
using testing::small_experts;
using testing::small_latent;

constexpr ParallelConfig kTwo{.tensor = 2};
constexpr ParallelConfig kSliced{.tensor = 2, .latent_slices = 2};

StepGraph prefill(const ParallelConfig& p, LatentUnpacking latent) {
  return dense_step(replica(
      small_latent(), p, {.kind = StepKind::prefill, .batch = 4, .context = 10, .latent = latent}));
}

constexpr std::int64_t kPairs = 2L * 4 * 55;  // layers, batch, and 10 * 11 / 2 pairs of positions

// Bytes that attention reads beside its queries and writes: rows of a position, 2 B an element.
std::int64_t rows_read(const StepGraph& graph, std::int64_t queries) {
  const std::int64_t positions = 2L * 4 * 10;
  return moved(graph, Phase::attention, Direction::read, TensorClass::activations) / 2 / positions -
         queries;
}

TEST(Prefill, OfExplicitHeadsMultipliesKeysAndValuesOfEachHead) {
  for (const LatentUnpacking form : {LatentUnpacking::automatic, LatentUnpacking::explicit_heads}) {
    EXPECT_EQ(flops_of(prefill({}, form), Phase::attention), 2 * kPairs * 4 * (6 + 4));
    EXPECT_EQ(flops_of(prefill(kTwo, form), Phase::attention), 2 * kPairs * 2 * (6 + 4));
    // Every slice attends with all heads: twice what MLA does on two GPUs.
    EXPECT_EQ(flops_of(prefill(kSliced, form), Phase::attention), 2 * kPairs * 4 * (6 + 4));
    EXPECT_EQ(rows_read(prefill({}, form), 4 * 6), 4 * (6 + 4));
    EXPECT_EQ(rows_read(prefill(kTwo, form), 2 * 6), 2 * (6 + 4));
    EXPECT_EQ(rows_read(prefill(kSliced, form), 4 * 6), 4 * (6 + 4));
  }
}

TEST(Prefill, OfAbsorbedHeadsMultipliesTheLatent) {
  const auto form = LatentUnpacking::absorbed;
  EXPECT_EQ(flops_of(prefill({}, form), Phase::attention), 2 * kPairs * 4 * (10 + 8));
  EXPECT_EQ(flops_of(prefill(kTwo, form), Phase::attention), 2 * kPairs * 2 * (10 + 8));
  EXPECT_EQ(flops_of(prefill(kSliced, form), Phase::attention), 2 * kPairs * 4 * (6 + 4));
  EXPECT_EQ(rows_read(prefill({}, form), 4 * 10), 10);
  EXPECT_EQ(rows_read(prefill(kTwo, form), 2 * 10), 10);
  EXPECT_EQ(rows_read(prefill(kSliced, form), 4 * 6), 6);
}

// Queries, latent, keys and values of all heads, output: the weights of both forms are the same.
TEST(Prefill, ProjectsWithTheSameWeightsInEitherForm) {
  const std::int64_t queries = 32 * 16 + 16 * 4 * 6;
  const std::int64_t whole = queries + 32 * 10 + 8 * 4 * (4 + 4) + 4 * 4 * 32;
  const std::int64_t sliced = queries + 32 * 6 + 4 * 4 * (4 + 4) + 4 * 4 * 32;
  for (const LatentUnpacking form : {LatentUnpacking::absorbed, LatentUnpacking::explicit_heads}) {
    EXPECT_EQ(flops_of(prefill({}, form), Phase::projection), 2L * 2 * 40 * whole);
    EXPECT_EQ(flops_of(prefill(kSliced, form), Phase::projection), 2L * 2 * 40 * sliced);
  }
}

// Of 10 positions 6 are cached: 4 queries have 55 - 21 pairs, 4 rows are written, and keys and
// values of the heads are made for all 10.
TEST(Prefill, ReadsWhatIsNotCached) {
  AttentionContext context =
      replica(small_latent(), {}, {.kind = StepKind::prefill, .batch = 4, .context = 10});
  const StepGraph whole = dense_step(context);
  context.step.cached = 6;
  const StepGraph rest = dense_step(context);
  EXPECT_EQ(flops_of(rest, Phase::attention), 2 * (2L * 4 * (55 - 21)) * 4 * (6 + 4));
  EXPECT_EQ(moved(rest, Phase::write_back, Direction::write, TensorClass::keys),
            2L * 4 * 4 * 10 * 2);
  EXPECT_EQ(testing::kept(rest, TensorClass::keys), testing::kept(whole, TensorClass::keys));
  const std::int64_t unpacking = 8 * 4 * (4 + 4);
  EXPECT_EQ(5 * (flops_of(rest, Phase::projection) - 2L * 2 * 4 * 6 * unpacking),
            2 * flops_of(whole, Phase::projection));
  EXPECT_EQ(rest.tokens, 4 * 4);
}

// As a piece of a prompt in a server's iteration.
TEST(Prefill, AfterCachedPositionsIsAChunk) {
  AttentionContext cached =
      replica(small_experts(), kTwo, {.kind = StepKind::prefill, .batch = 1, .context = 10});
  AttentionContext chunk = cached;
  cached.step.cached = 6;
  chunk.step.context = 4;
  chunk.chunks = {{.tokens = 4, .before = 6}};
  const auto attends = [](const AttentionContext& c) {
    const StepGraph graph = dense_step(c);
    return std::vector{flops_of(graph, Phase::attention), flops_of(graph, Phase::mlp),
                       moved(graph, Phase::attention, Direction::read, TensorClass::activations)};
  };
  EXPECT_EQ(attends(cached), attends(chunk));
}

// The cache is the latent, in any form of attention.
TEST(Prefill, StoresWhatDecodeReads) {
  for (const LatentUnpacking form : {LatentUnpacking::absorbed, LatentUnpacking::explicit_heads}) {
    const auto stored = [&](const ParallelConfig& p) {
      return moved(prefill(p, form), Phase::write_back, Direction::write, TensorClass::keys);
    };
    EXPECT_EQ(stored(kTwo), 2L * 4 * 10 * 10 * 2);  // layers, batch, positions, elements, bytes
    EXPECT_EQ(stored(kSliced), 2L * 4 * 10 * 6 * 2);
  }
}

// GLA: two latents of 4, each for two heads.
TEST(Prefill, OfLatentHeadsMultipliesTheirPart) {
  LlmConfig m = small_latent();
  m.mla->latent_heads = 2;
  AttentionContext context = replica(m, {}, {.kind = StepKind::prefill, .batch = 4, .context = 10});
  const std::int64_t shared = 32 * 16 + 16 * 4 * 6 + 32 * 10 + 4 * 4 * 32;
  EXPECT_EQ(flops_of(dense_step(context), Phase::projection),
            2L * 2 * 40 * (shared + 4 * 4 * (4 + 4)));  // a head unpacks 4 elements
  context.step.latent = LatentUnpacking::absorbed;
  const StepGraph graph = dense_step(context);
  EXPECT_EQ(flops_of(graph, Phase::attention), 2 * kPairs * 4 * (6 + 4));
  EXPECT_EQ(rows_read(graph, 4 * 6), 10);
}

TEST(ExplicitDecode, ReadsAndKeepsKeysAndValuesOfEveryHead) {
  AttentionContext context = replica(small_latent(), kTwo);
  context.step.latent = LatentUnpacking::explicit_heads;
  const StepGraph graph = dense_step(context);
  const std::int64_t heads = 2L * 4 * 10 * 2 * 2;  // layers, batch, positions, bytes, heads
  EXPECT_EQ(testing::kept(graph, TensorClass::keys), heads * 6);
  EXPECT_EQ(testing::kept(graph, TensorClass::values), heads * 4);
  EXPECT_EQ(moved(graph, Phase::attention, Direction::read, TensorClass::keys), heads * 6);
  EXPECT_EQ(moved(graph, Phase::attention, Direction::read, TensorClass::values), heads * 4);
  EXPECT_EQ(flops_of(graph, Phase::attention), 2L * 2 * 4 * 2 * 10 * (6 + 4));
  for (const Op& op : graph.ops)
    if (op.phase == Phase::attention) {
      EXPECT_EQ(op.family, KernelFamily::attention);
    }
}

// A guessed query is made by what makes queries: down, up and, where it is absorbed, the unpacking.
TEST(GuessedQueries, AreMadeByTheProductsOfTheForm) {
  const auto guessed = [](LatentUnpacking latent) {
    AttentionContext context = replica(small_latent(), {});
    context.step.overlap = Overlap::prefetch_screening;
    context.step.latent = latent;
    const StepGraph graph =
        testing::build("{name: maple, budget: 0.5, rank_ratio: 0.5, key_type: int8}", context);
    std::int64_t weights = 0;
    for (const Op& op : graph.ops)
      if (op.layer == 1 && op.phase == Phase::screening && op.matrix.rows > 0)
        weights += op.flops.in_base() / (2 * 4);
    return weights;
  };
  const std::int64_t queries = 32 * 16 + 16 * 4 * 6;
  EXPECT_EQ(guessed(LatentUnpacking::absorbed), queries + 4 * 4 * 8);
  EXPECT_EQ(guessed(LatentUnpacking::explicit_heads), queries);
}

// "phase layer kind bytes" of every operation, in order.
std::vector<std::string> texts(Region region, const ParallelConfig& p, StepKind kind) {
  AttentionContext context = replica(small_experts(), p, {.kind = kind, .batch = 4, .context = 10});
  context.step.region = region;
  context.host_works = true;
  std::vector<std::string> out;
  for (const Op& op : dense_step(context).ops)
    out.push_back(fmt::format("{} {} {} {}", name(op.phase), op.layer, op.flops.in_base(),
                              op.collective.size.in_base()));
  return out;
}

bool has(const std::vector<std::string>& all, std::string_view phase) {
  return std::ranges::any_of(all, [&](const std::string& text) { return text.starts_with(phase); });
}

TEST(Regions, EachIsAPartOfTheOneBefore) {
  ParallelConfig split = kSliced;
  split.output_projection = OutputProjection::split;
  for (const StepKind kind : {StepKind::decode, StepKind::prefill})
    for (const ParallelConfig& p :
         {ParallelConfig{}, kTwo, kSliced, split, ParallelConfig{.pipeline = 2},
          ParallelConfig{.tensor = 2, .attention = AttentionSharing::data}}) {
      std::vector<std::string> larger = texts(Region::step, p, kind);
      EXPECT_TRUE(has(larger, "host") && has(larger, "head"));
      for (const Region region : {Region::layers, Region::attention_block, Region::attention}) {
        const std::vector<std::string> now = texts(region, p, kind);
        EXPECT_LT(now.size(), larger.size());
        auto at = larger.begin();  // the same operations, in the same order, some left out
        for (const std::string& text : now) {
          at = std::find(at, larger.end(), text);
          ASSERT_NE(at, larger.end()) << text;
          ++at;
        }
        larger = now;
      }
      EXPECT_FALSE(has(larger, "projection") || has(larger, "collective"));
      EXPECT_TRUE(has(larger, "attention"));
      EXPECT_FALSE(has(texts(Region::layers, p, kind), "head"));
      EXPECT_FALSE(has(texts(Region::layers, p, kind), "host"));
      EXPECT_FALSE(has(texts(Region::attention_block, p, kind), "mlp"));
    }
}

// The footprint does not depend on the measured region.
TEST(Regions, LeaveTheFootprintAsItIs) {
  AttentionContext context = replica(small_experts(), kTwo);
  const StepGraph whole = dense_step(context);
  context.step.region = Region::attention;
  const StepGraph part = dense_step(context);
  ASSERT_EQ(part.tensors.size(), whole.tensors.size());
  for (std::size_t i = 0; i < part.tensors.size(); ++i)
    EXPECT_EQ(part.tensors[i].size, whole.tensors[i].size);
}

}  // namespace
}  // namespace tiersim::parallel_prefill_test
