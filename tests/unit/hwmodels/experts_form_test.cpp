// Grouped products of experts: loads that can be counted by hand, limits of the equation, and
// planted truth that a fit must find again.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hwmodels/calibrate/fit/form_fit.hpp"
#include "hwmodels/compute/timed_kernel.hpp"
#include "hwmodels/forms/experts_form.hpp"
#include "sim/config/describe.hpp"
#include "sim/model/expert_loads.hpp"

namespace tiersim::experts_form_test {

struct ShippedKernels {
  std::map<std::string, TimedKernelConfig> timed_kernels;
};
void describe(Fields& f, ShippedKernels& c) {
  f.required("timed_kernels", c.timed_kernels, "As a calibration has them.");
}

namespace {

const GpuSheet kGpu{.memory = 4.8e12, .peak = 989e12, .l2_bytes = 50e6, .sms = 132};

const std::vector<double> kPlanted{2e-5, 0.85, 0.8,   0.3, 0.6, 2.5, 3, 4,
                                   2e-8, 1e-8, 4e-10, 2,   1.1, 0.4, 2};

constexpr std::size_t kFastest = 0;
constexpr std::size_t kAllRows = 1;
constexpr std::size_t kByMean = 2;
constexpr std::size_t kContiguous = 3;

double experts(const ExpertsCase& c, std::size_t variant = kFastest) {
  return experts_form().physics(experts_form().features(c.sizes()), kGpu, kPlanted, variant);
}

// As Qwen3-30B-A3B has them.
ExpertsCase layer(double tokens) {
  return {.tokens = tokens, .hidden = 2048, .intermediate = 768, .top_k = 8, .experts = 128};
}

std::vector<ExpertsCase> layers() {
  std::vector<ExpertsCase> out;
  for (const auto& [hidden, intermediate, top_k, experts] : {std::array{2048., 768., 8., 128.},
                                                             {4096., 14336., 2., 8.},
                                                             {4096., 1536., 8., 128.},
                                                             {7168., 2048., 8., 256.},
                                                             {6144., 2560., 8., 160.},
                                                             {5120., 8192., 1., 16.}})
    for (const double ranks : {1., 2., 4., 8.})
      for (const double skew : {0., 1.01, 1.2})
        for (const double tokens : {1., 4., 16., 64., 256., 1024., 4096., 16384.})
          out.push_back({.tokens = tokens,
                         .hidden = hidden,
                         .intermediate = intermediate,
                         .top_k = top_k,
                         .experts = experts,
                         .expert_parallel = ranks,
                         .skew = skew});
  return out;
}

TEST(ExpertLoads, BalancedOnesDifferByOneTokenAtMost) {
  // 64 tokens of 8 experts are 512 rows, 2 an expert and 64 a GPU.
  const ExpertLoads even = expert_loads({.tokens = 64, .top_k = 8, .experts = 256, .ranks = 8});
  EXPECT_EQ(even.active, 32);
  EXPECT_EQ(even.rows, 64);
  for (const double tiles : even.tiles) EXPECT_EQ(tiles, 32);
  // 65 tokens have 8 rows more, one on each GPU.
  EXPECT_EQ(expert_loads({.tokens = 65, .top_k = 8, .experts = 256, .ranks = 8}).rows, 65);
  // 8 rows of one token reach an expert of each GPU.
  const ExpertLoads one = expert_loads({.tokens = 1, .top_k = 8, .experts = 256, .ranks = 8});
  EXPECT_EQ(one.active, 1);
  EXPECT_EQ(one.rows, 1);
  // 3000 rows of each of 8 experts: 375, 188, ... and 12 tiles.
  const ExpertLoads many = expert_loads({.tokens = 12000, .top_k = 2, .experts = 8});
  EXPECT_EQ(many.tiles.front(), 8 * 375);
  EXPECT_EQ(many.tiles[1], 8 * 188);
  EXPECT_EQ(many.tiles.back(), 8 * 12);
}

TEST(ExpertLoads, TheHottestGpuHasNoLessThanTheMean) {
  for (const double skew : {0., 0.5, 1., 1.01, 1.2, 2.})
    for (const double ranks : {1., 2., 8., 32., 128.})
      for (const double tokens : {1., 3., 16., 100., 5000.}) {
        const ExpertLoads loads = expert_loads(
            {.tokens = tokens, .top_k = 8, .experts = 128, .ranks = ranks, .skew = skew});
        EXPECT_GE(loads.rows, tokens * 8 / ranks);
        EXPECT_LE(loads.active, std::min(loads.rows, 128 / ranks));
        EXPECT_LE(loads.rows, loads.active * tokens);  // a token visits an expert once
        if (ranks == 1) {
          EXPECT_EQ(loads.rows, tokens * 8);
        }
      }
}

TEST(ExpertLoads, MoreSkewIsMoreOnTheHottestGpuAndFewerExpertsWithFewTokens) {
  const auto at = [](double skew, double tokens, double ranks) {
    return expert_loads(
        {.tokens = tokens, .top_k = 8, .experts = 128, .ranks = ranks, .skew = skew});
  };
  EXPECT_GT(at(1.01, 4096, 8).rows, 1.2 * at(0, 4096, 8).rows);
  EXPECT_GT(at(1.2, 4096, 8).rows, at(1.01, 4096, 8).rows);
  EXPECT_LT(at(1.2, 32, 1).active, at(1.01, 32, 1).active);
  EXPECT_LT(at(1.01, 32, 1).active, at(0, 32, 1).active);
}

TEST(ExpertLoads, AreTheSameBitsEveryTime) {
  const ExpertRouting routing{.tokens = 777, .top_k = 8, .experts = 256, .ranks = 16, .skew = 1.2};
  const ExpertLoads loads = expert_loads(routing);
  EXPECT_EQ(loads.rows, expert_loads(routing).rows);
  EXPECT_EQ(loads.active, expert_loads(routing).active);
  EXPECT_EQ(loads.tiles, expert_loads(routing).tiles);
}

TEST(ExpertLoads, AShareOfExpertsThatIsNotWholeIsRoundedUp) {
  for (const double skew : {0., 1.2}) {
    const ExpertLoads loads =
        expert_loads({.tokens = 4096, .top_k = 8, .experts = 100, .ranks = 8, .skew = skew});
    EXPECT_LE(loads.active, 13);
    EXPECT_GT(loads.active, 12);
  }
}

TEST(ExpertLoads, OfAMeanAreTheSameForAllActiveExperts) {
  const ExpertLoads loads = mean_loads(60, 1020);  // 17 rows each
  EXPECT_EQ(loads.active, 60);
  EXPECT_EQ(loads.rows, 1020);
  EXPECT_EQ(loads.tiles[0], 60 * 3);
  EXPECT_EQ(loads.tiles[1], 60 * 2);
  EXPECT_EQ(loads.tiles[2], 60);
}

TEST(ExpertsForm, TakesTheTimeOfItsWeightsWhereTokensAreFew) {
  // 128 experts of 3 * 2048 * 768 elements are 1.2 GB, far more than L2.
  const double weights = 128. * 3 * 2048 * 768 * 2 / (0.85 * kGpu.memory);
  EXPECT_GT(experts(layer(16)), weights);
  EXPECT_LT(experts(layer(16)), 1.1 * weights + 25e-6);  // and floors
}

TEST(ExpertsForm, TakesTheTimeOfItsOperationsWhereTokensAreMany) {
  const double flops = 2. * 32768 * 8 * 3 * 2048 * 768 / (0.8 * kGpu.peak);
  EXPECT_GT(experts(layer(32768)), flops);
  // Edges of tiles of 256 rows add 8 %; rows and tokens move 14 GB.
  EXPECT_LT(experts(layer(32768)), 1.15 * flops + 14.6e9 * 3 / kGpu.memory + 1e-3);
}

TEST(ExpertsForm, IsMonotoneInTokensAndInGpus) {
  for (const std::size_t variant : {kFastest, kAllRows}) {
    double last = 0;
    for (double tokens = 1; tokens <= 32768; tokens *= 2) {
      EXPECT_GE(experts(layer(tokens), variant), last) << tokens;
      last = experts(layer(tokens), variant);
    }
  }
  for (const double tokens : {1., 64., 4096.}) {
    ExpertsCase c = layer(tokens);
    double last = experts(c);
    for (const double ranks : {2., 4., 8., 16., 32.}) {
      c.expert_parallel = ranks;
      EXPECT_LE(experts(c), last) << ranks;
      last = experts(c);
    }
  }
}

TEST(ExpertsForm, HalfTheBytesOfAWeightAreNoSlowerAndAGateIsNoFaster) {
  for (const double tokens : {1., 64., 4096.}) {
    ExpertsCase c = layer(tokens);
    const double wide = experts(c);
    c.weight_bytes = 1;
    EXPECT_LE(experts(c), wide);
    c = layer(tokens);
    c.gated = 0;
    EXPECT_LT(experts(c), wide);
  }
}

TEST(ExpertsForm, ReadsWeightsAgainForEachTileWhereTheyExceedL2) {
  // 8 experts of 352 MB: 32 rows an expert are 2 tiles of 16, 8 rows are one of 8.
  ExpertsCase c{.tokens = 32, .hidden = 4096, .intermediate = 14336, .top_k = 2, .experts = 8};
  const double once = experts(c, kByMean);
  c.tokens = 128;
  EXPECT_GT(experts(c, kByMean), 1.6 * once);
  EXPECT_LT(experts(c, kByMean), 2 * once);
  // A sixteenth of the width: 15 MB of gate and up are kept for the second tile.
  c.intermediate = 896;
  const double narrow = experts(c, kByMean);
  c.tokens = 32;
  EXPECT_LT(narrow, 1.1 * experts(c, kByMean));
}

void expect_found(std::size_t variant, double median, double p90) {
  std::vector<FormTiming> rows;
  for (const ExpertsCase& c : layers())
    rows.push_back(
        {c.sizes(), fmt::format("{} {}", c.hidden, c.intermediate), experts(c, variant)});
  const FormFit fit = fit_form(experts_form(), rows, kGpu);
  EXPECT_EQ(fit.model.variant, variant);
  EXPECT_LT(fit.unseen.median, median);
  EXPECT_LT(fit.unseen.p90, p90);
  EXPECT_EQ(fit.outside, 0);
}

// 127 rows more for each of 128 experts: 16256, and 8 for a token. 16 tokens fill 128 tiles of 128
// rows, 17 need one more.
TEST(ExpertsForm, AContiguousLayoutHasTilesForAnyChoiceOfExperts) {
  std::vector<double> parameters = kPlanted;
  parameters[1] = 1e9;                                     // weights take no time
  parameters[7] = parameters[9] = parameters[10] = 1e-30;  // nor do tokens, experts and pairs
  parameters[8] = 1e-30;
  const auto time = [&](double tokens, double ranks) {
    ExpertsCase c = layer(tokens);
    c.expert_parallel = ranks;
    return experts_form().physics(experts_form().features(c.sizes()), kGpu, parameters,
                                  kContiguous);
  };
  EXPECT_NEAR(time(1, 1) / time(16, 1), 1, 1e-9);
  EXPECT_GT(time(17, 1), time(16, 1) * 1.0001);
  // A GPU with half of the experts has half of the tiles, and rows of both.
  const double fixed = parameters[0];
  EXPECT_NEAR((time(16, 2) - fixed) / (time(16, 1) - fixed), 65. / 128, 0.02);
}

// Timings of DeepSeek-V3's experts on an H100 by vLLM's pull request 17934, which the shipped
// kernel was fitted to.
TEST(ExpertsForm, TheShippedContiguousKernelTakesThePublishedTimes) {
  Diagnostics diagnostics;
  const Document document = load_document(std::filesystem::path(TIERSIM_SOURCE_DIR) /
                                              "configs/calibration/h100/vllm-0.12.0/experts.yaml",
                                          {}, diagnostics);
  const auto kernels = read<ShippedKernels>(document, "device", diagnostics).timed_kernels;
  ASSERT_EQ(diagnostics.text(), "");
  const TimedKernelConfig& kernel = kernels.at("experts_deepgemm_contiguous_fp8_block");
  std::vector<double> parameters;
  for (const FormParameter& p : experts_form().parameters())
    parameters.push_back(kernel.parameters.at(std::string(p.name)));
  const GpuSheet h100{.memory = 3.35e12, .peak = 1979e12, .l2_bytes = 52428800, .sms = 132};
  for (const auto& [tokens, gpus, microseconds] : {std::array{128., 1., 5585.2},
                                                   {128., 2., 2953.5},
                                                   {128., 4., 1744.3},
                                                   {128., 8., 1058.4},
                                                   {256., 1., 5804.1}}) {
    const ExpertsCase c{.tokens = tokens,
                        .hidden = 7168,
                        .intermediate = 2048 / gpus,
                        .top_k = 8,
                        .experts = 256,
                        .weight_bytes = 1,
                        .input_bytes = 1};
    // As the benchmark's random router has it: an expert is reached unless every token misses it.
    const double active = 256 * (1 - std::pow(1 - 8. / 256, tokens));
    const double time = experts_form().physics(experts_features(c, mean_loads(active, tokens * 8)),
                                               h100, parameters, kContiguous);
    EXPECT_NEAR(time * 1e6 / microseconds, 1, 0.03) << tokens << " tokens, " << gpus << " GPUs";
  }
}

TEST(ExpertsForm, AFitFindsPlantedTimesOfLayersThatItDidNotSee) {
  expect_found(kFastest, 0.01, 0.05);
  expect_found(kByMean, 0.01, 0.05);
}

TEST(ExpertsForm, IsMadeForLayersThatEnginesRun) {
  const auto in_range = [](const ExpertsCase& c) { return experts_form().in_range(c.sizes()); };
  EXPECT_TRUE(in_range(layer(1)));
  EXPECT_FALSE(in_range(layer(65536)));
  ExpertsCase c = layer(1);
  c.top_k = 129;  // of 128 experts
  EXPECT_FALSE(in_range(c));
  c = layer(1);
  c.intermediate = 16;
  EXPECT_FALSE(in_range(c));
  c = layer(1);
  c.expert_parallel = 256;
  EXPECT_FALSE(in_range(c));
}

}  // namespace
}  // namespace tiersim::experts_form_test
