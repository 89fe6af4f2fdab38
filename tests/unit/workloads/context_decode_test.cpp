// A decode step whose cached positions lie on several context ranks, by hand: a rank has the
// products of its own sequences and the attention of all of them over its part of their positions.
#include "workloads/attention/context_decode.hpp"

#include <gtest/gtest.h>

#include "tests/unit/workloads/parallel_models.hpp"
#include "workloads/llm/device_step.hpp"

namespace tiersim::context_decode_test {
namespace {

using testing::collectives;
using testing::dense_step;
using testing::flops_of;
using testing::kept;
using testing::moved;
using testing::replica;
using testing::small_latent;

using Texts = std::vector<std::string>;

// 2 layers, 4 query heads over 2 KV heads of 8 elements: 64 B of a position's keys and values, and
// of its queries.
LlmConfig small() {
  LlmConfig m = testing::small_step().model;
  m.layers = 2;
  return m;
}

AttentionContext decode(const LlmConfig& model, std::int64_t ranks, std::int64_t batch,
                        std::int64_t context) {
  ParallelConfig parallel;
  if (ranks > 1) parallel.context = ranks;
  return replica(model, parallel, {.batch = batch, .context = context});
}

// Of 8 sequences queries and rows of 64 + 64 B come, and results of 64 B with four sums of 4 B go
// back.
TEST(ContextDecode, GathersQueriesAndReturnsResults) {
  const StepGraph graph = dense_step(decode(small(), 4, 8, 64));
  EXPECT_EQ(collectives(graph, 0),
            (Texts{"all_gather context 4 1024 B", "all_to_all context 4 640 B"}));
}

// Neither depends on the context.
TEST(ContextDecode, ExchangesAsMuchAtEveryContext) {
  EXPECT_EQ(collectives(dense_step(decode(small(), 4, 8, 64))),
            collectives(dense_step(decode(small(), 4, 8, 1 << 20))));
}

// Of 64 positions of 8 sequences a rank reads 16: two heads of 16 B in 2 layers. Of the new rows it
// keeps two, as many as it has sequences.
TEST(ContextDecode, ReadsAndKeepsAPartOfEverySequence) {
  const StepGraph graph = dense_step(decode(small(), 4, 8, 64));
  EXPECT_EQ(moved(graph, Phase::attention, Direction::read, TensorClass::keys),
            2L * 8 * 2 * 16 * 16);
  EXPECT_EQ(moved(graph, Phase::write_back, Direction::write, TensorClass::keys), 2L * 2 * 2 * 16);
  EXPECT_EQ(kept(graph, TensorClass::keys), 2L * 8 * 2 * 16 * 16);
  EXPECT_EQ(graph.tokens, 8);
}

// Its attention is a quarter of the whole, and so are its products, in which it has two sequences;
// the merge adds up four results of 2 x 32 elements of each layer, in two operations each.
TEST(ContextDecode, HasAPartOfTheWork) {
  const StepGraph one = dense_step(decode(small(), 1, 8, 64));
  const StepGraph graph = dense_step(decode(small(), 4, 8, 64));
  EXPECT_EQ(4 * (flops_of(graph, Phase::attention) - 2L * 4 * 2 * 64),
            flops_of(one, Phase::attention));
  for (const Phase phase : {Phase::projection, Phase::mlp, Phase::head})
    EXPECT_EQ(4 * flops_of(graph, phase), flops_of(one, phase));
  EXPECT_EQ(kept(graph, TensorClass::weights), kept(one, TensorClass::weights));
}

// A single sequence lies on all ranks, one of which has its products; positions are rounded up.
TEST(ContextDecode, CutsASingleSequence) {
  const StepGraph graph = dense_step(decode(small(), 4, 1, 65));
  EXPECT_EQ(kept(graph, TensorClass::keys), 2L * 2 * 17 * 16);
  EXPECT_EQ(collectives(graph, 0),
            (Texts{"all_gather context 4 128 B", "all_to_all context 4 80 B"}));
}

// The positions of a window lie on the ranks in turn, too: 20 of 64 are 5 on each.
TEST(ContextDecode, CutsAWindow) {
  LlmConfig windowed = small();
  windowed.attention_window = 20;
  EXPECT_EQ(moved(dense_step(decode(windowed, 4, 8, 64)), Phase::attention, Direction::read,
                  TensorClass::keys),
            2L * 8 * 2 * 5 * 16);
}

// Latents of 8 + 2 elements serve 4 heads: their queries are as wide, and results 8.
TEST(ContextDecode, OfLatentsGathersAbsorbedQueries) {
  AttentionContext context = decode(small_latent(), 2, 4, 64);
  context.step.latent = LatentUnpacking::absorbed;
  const StepGraph graph = dense_step(context);
  EXPECT_EQ(collectives(graph, 0),
            (Texts{"all_gather context 2 400 B", "all_to_all context 2 320 B"}));
  // 4 sequences of 32 positions of 20 B in 2 layers.
  EXPECT_EQ(kept(graph, TensorClass::keys), 2L * 4 * 32 * 20);
}

TEST(ContextDecode, IsTheStepItselfOnOneRank) {
  const AttentionContext one = device_step(decode(small(), 1, 8, 64)).context;
  EXPECT_EQ(one.shared, 0);
  EXPECT_EQ(rank_part(one).step.context, 64);
}

}  // namespace
}  // namespace tiersim::context_decode_test
