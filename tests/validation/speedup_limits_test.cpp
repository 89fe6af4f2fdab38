// The limits of a step, and pairs of steps without factors.
#include <gtest/gtest.h>

#include "tests/validation/speedup_pairs.hpp"

namespace tiersim::speedup_limits_test {
namespace {

using testing::kMla;
using testing::kTpla;
using testing::kUnpadded;
using testing::on;
using testing::pair;
using testing::Settings;
using testing::Way;

StepLimit limit(const Way& way, std::int64_t batch, Duration host = {}) {
  return pair(way, way, batch, batch).speedup(kUnpadded, host).base.limit;
}

TEST(StepLimits, AreWhatTakesLongest) {
  const Way attention = kMla.with(on("h100_nvlink", "attention"));
  EXPECT_EQ(limit(attention, 16), StepLimit::hbm);
  EXPECT_EQ(limit(kMla.with(on("h20_nvlink", "attention")), 16), StepLimit::flop);
  // 61 layers of attention, each less than all weights.
  EXPECT_EQ(limit(kMla.with(on("h100_nvlink", "layers")), 16), StepLimit::hbm);
  EXPECT_EQ(limit(kMla.with(on("h100_nvlink", "layers")).with({"step.context=1024"}), 1),
            StepLimit::capacity);
  EXPECT_EQ(limit(attention.with({"step.context=1"}), 1), StepLimit::launch);
  EXPECT_EQ(limit(kMla.with(on("h100_nvlink", "attention_block"))
                      .with({"system.fabrics.tensor.collective.one_shot=10 ms",
                             "system.fabrics.tensor.collective.two_shot=10 ms"}),
                  16),
            StepLimit::collective);
  EXPECT_EQ(limit(attention, 16, Duration(1'000'000'000'000)), StepLimit::host);
}

// More sequences do not help a prompt: weights that it waits for are HBM's.
TEST(StepLimits, OfAPromptWeightsAreHbm) {
  EXPECT_EQ(
      limit(kMla.with(on("h100_nvlink", "layers")).with({"step.kind=prefill", "step.context=16"}),
            1),
      StepLimit::hbm);
}

std::string refused(const Way& base, const Way& other) {
  const auto made = StepPair::make(base.config(), other.config(), 4, 4);
  return made ? "" : made.error();
}

TEST(StepPair, RefusesWhatIsNoSumOfItsOperations) {
  const std::string none = "'DeepSeek-V3 MLA TP2' has no factors: ";
  EXPECT_EQ(refused(kMla.with({"step.overlap=micro_batches"}), kMla),
            none + "its operations overlap");
  EXPECT_EQ(refused(kMla, kMla.with({"method.kv_tier=far", "placement.far=pool"})),
            none + "rows come from another tier");
  const Way stages{"deepseek_v3_full_pp2_tp8"};
  EXPECT_NE(refused(stages, stages).find("a pipeline's stages run at the same time"),
            std::string::npos);
  const Way sent{"deepseek_v3_tpla_sep_prefill"};
  EXPECT_NE(refused(sent, sent).find("its cache is sent beside"), std::string::npos);
  const Settings quest{"method={name: quest, kv_tier: near, page: 16, budget: 0.25}"};
  EXPECT_EQ(refused(kMla, kMla.with(quest)), none + "it screens rows");
}

// T5 attends to its own positions and to its encoder's.
TEST(StepPair, RefusesLayersThatDifferInAttention) {
  const Way t5 = kMla.with({"model.base=models/t5_v1_1_base.yaml", "parallel.tensor=1",
                            "step.context=64", "step.encoder_context=512"});
  EXPECT_EQ(refused(t5, t5),
            "'DeepSeek-V3 MLA TP2' has no factors: its layers differ in attention");
}

TEST(StepPair, RefusesWhatIsNotOnTheSameDevices) {
  EXPECT_EQ(
      refused(kMla.with(on("h100_nvlink", "layers")), kTpla.with(on("h200_nvlink", "layers"))),
      "the two run attention on different devices");
  EXPECT_EQ(refused(kMla.with({"system.gpus.count=4"}),
                    kMla.with({"system.gpus.count=4", "parallel.tensor=4"})),
            "the two have different numbers of replicas");
  EXPECT_EQ(refused(kMla, kMla.with({"model.layers=60"})),
            "the two have attention in different numbers of layers");
  const Settings prompt{"step.kind=prefill"};
  EXPECT_EQ(refused(kMla.with(prompt), kMla.with(prompt).with({"step.context=1024"})),
            "the two make different numbers of tokens of one batch");
}

}  // namespace
}  // namespace tiersim::speedup_limits_test
