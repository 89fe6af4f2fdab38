// Attention over blocks that an indexer chooses: modules that can be counted by hand, their parts,
// planted truth that a fit must find again, and the operations of a step that follow it.
#include "hwmodels/forms/block_form.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "hwmodels/calibrate/fit/form_fit.hpp"
#include "hwmodels/calibrate/fit/write_forms.hpp"
#include "hwmodels/compute/roofline_gpu.hpp"
#include "sim/config/describe.hpp"

namespace tiersim::block_form_test {
namespace {

const GpuSheet kSheet{.memory = 4e12, .peak = 1e15, .l2_bytes = 50e6, .warm = 0, .sms = 100};
// t0, memory, peak, corner, row, scores, keys, choice, rows, slot, l2_speed, l2_share, l2_corner,
// single.
const std::vector<double> kTruth{6e-5, 0.8, 0.5,  8, 1e-6, 0.2, 0.5,
                                 2e-9, 0.5, 5e-9, 4, 0.5,  2,   5e-9};
constexpr std::size_t kTogether = 0;  // variant: several blocks of threads share a token
constexpr std::size_t kAlone = 1;

double seconds(const BlockCase& c, std::size_t variant = kTogether) {
  return block_form().physics(c.sizes(), kSheet, kTruth, variant);
}
BlockCase part(double which, BlockCase c) {
  c.part = which;
  return c;
}
double corner(double a, double b) {
  return std::cbrt(a * a * a + b * b * b);
}

// 100 million weights, 8192 positions of 64 blocks.
constexpr BlockCase kStep{.sequences = 32, .before = 8191, .weights = 1e8};

TEST(BlockForm, TakesTheTimeOfItsParts) {
  const double shortest = 6e-5 / 12;
  // 2048 rows of 2 * 128 elements of 2 B in 4 KV heads, at half of 4 TB/s; 128 pairs of a token and
  // a KV head on 100 SMs, of 2048 positions each.
  const double rows = 32. * 4 * 2048 * 512 / 2e12;
  const double slots = 1.28 * 2048 * 5e-9;
  EXPECT_NEAR(seconds(part(3, kStep)), shortest + corner(rows, slots), 1e-9);
  // 4 heads with a score for each of 64 blocks.
  EXPECT_NEAR(seconds(part(2, kStep)), shortest + 2e-9 * 32 * 4 * 64 / 100, 1e-12);
  // 256 B of each position at half of 4 TB/s; 4 heads of 128 at .2 of the peak.
  const double keys = 256. * 32 * 8192 / 2e12;
  const double scores = 2. * 32 * 8192 * 4 * 128 / 2e14;
  EXPECT_NEAR(seconds(part(1, kStep)), shortest + corner(keys, scores), 1e-9);
  // The module has them all, its products' 200 MB at .8 of 4 TB/s, and a row of each token.
  double parts = 0;
  for (const double which : {1., 2., 3.}) parts += seconds(part(which, kStep)) - shortest;
  EXPECT_NEAR(seconds(kStep), 6e-5 + 2e8 / 3.2e12 + 32 * 1e-6 / 100 + parts, 1e-7);
}

// 24 MB of weights and a few rows are in half of 50 MB, and read at four times the memory's rate;
// of 2 GB nearly nothing is.
TEST(BlockForm, WhatWasReadBeforeIsFoundInL2) {
  GpuSheet warm = kSheet;
  warm.warm = 1;
  BlockCase c{.sequences = 1, .before = 0, .weights = 12e6};
  const auto time = [&](const GpuSheet& gpu) {
    return block_form().physics(c.sizes(), gpu, kTruth, kTogether);
  };
  EXPECT_NEAR(time(kSheet) - time(warm), 24e6 / 3.2e12 * 3 / 4, 1e-8);
  c.weights = 1e9;
  EXPECT_NEAR(time(warm), time(kSheet), 1e-6);
}

TEST(BlockForm, OneTokenFillsOneBlockOfThreadsAtLeast) {
  BlockCase one = kStep;
  one.sequences = 1;
  one.kv_heads = 1;
  EXPECT_GT(seconds(part(3, one), kAlone), 6e-5 / 12 + 2048 * 5e-9);
  EXPECT_LT(seconds(part(3, one), kTogether), 6e-5 / 12 + 2048 * 5e-9);
}

// The first 2048 tokens of a prompt see 1024.5 positions in the mean, the other 2048 see 2048.
TEST(BlockForm, TheFirstTokensOfAPromptSeeFewerPositions) {
  EXPECT_DOUBLE_EQ((BlockCase{.tokens = 4096}.attended()), (1024.5 + 2048) / 2);
  EXPECT_DOUBLE_EQ((BlockCase{.tokens = 2, .before = 2}.attended()), 3.5);
  EXPECT_DOUBLE_EQ((BlockCase{.tokens = 100, .before = 4000}.attended()), 2048);
  BlockCase few = kStep;
  few.before = 2047;
  EXPECT_NEAR(seconds(part(2, few)), 6e-5 / 12, 1e-12);  // all blocks are chosen
}

TEST(BlockForm, TakesNoLessTimeForMoreWork) {
  for (const std::size_t variant : {kTogether, kAlone}) {
    double last = 0;
    for (const double sequences : {1., 2., 30., 31., 100., 1000.}) {
      BlockCase c = kStep;
      c.sequences = sequences;
      EXPECT_GE(seconds(c, variant), last);
      last = seconds(c, variant);
    }
    last = 0;
    for (const double before : {0., 1., 100., 2046., 2047., 2048., 10000., 100000.}) {
      BlockCase c = kStep;
      c.before = before;
      EXPECT_GE(seconds(c, variant), last);
      last = seconds(c, variant);
    }
    last = 0;
    for (const double tokens : {1., 16., 2048., 2049., 32768.}) {
      BlockCase c = kStep;
      c.before = 0;
      c.tokens = tokens;
      EXPECT_GE(seconds(c, variant), last);
      last = seconds(c, variant);
    }
  }
}

TEST(BlockForm, AFitFindsPlantedTimes) {
  std::vector<FormTiming> rows;
  for (const double kv_heads : {1., 2., 4., 8.})
    for (double sequences = 1; sequences <= 1024; sequences *= 2)
      for (const double before : {127., 1023., 4095., 16383., 65535.}) {
        const BlockCase c{.sequences = sequences,
                          .before = before,
                          .heads = 16 * kv_heads,
                          .kv_heads = kv_heads,
                          .weights = 1e6 * (10 + 20 * kv_heads)};
        rows.push_back({c.sizes(), std::to_string(kv_heads), seconds(c)});
      }
  const FormFit fit = fit_form(block_form(), rows, kSheet);
  EXPECT_LT(fit.unseen.median, 0.03);
  EXPECT_LT(fit.unseen.p90, 0.1);
}

std::unique_ptr<ComputeUnit> gpu() {
  FormFit fit;
  fit.model = {.form = &block_form(), .variant = kTogether, .parameters = kTruth, .surface = {}};
  fit.least = {0, 1, 1, 1, 1, 1, 2048, 1e7, 2, 2};
  fit.most = {0, 1024, 1, 131071, 128, 8, 2048, 3e8, 2, 2};
  fit.scatter = {0.9, 1.2};
  std::string text =
      "schema: tiersim.device/v1\n"
      "part: h200\n"
      "peak_bf16: {value: 1000 TFLOP/s, class: specification, source: data sheet}\n"
      "peak_int8: {value: 1000 TFLOP/s, class: specification, source: data sheet}\n"
      "efficiency: {value: 0.8, class: assumed, source: a guess}\n"
      "launch: {value: 2 us, class: assumed, source: a guess}\n";
  const std::string timed =
      timed_kernels_yaml("tiersim calibrate", "h200/engine-1", "h200",
                         {{"module step", "screening", "bf16", "made up", &fit, kSheet}});
  text += timed.substr(timed.find("timed_kernels:"));
  Diagnostics diagnostics;
  const Document document = load_text(text, "gpu.yaml", {}, diagnostics);
  const auto config = read<RooflineGpuConfig>(document, "device", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return make_device(config);
}

KernelTime time_of(const ComputeUnit& unit, std::int64_t block) {
  return unit.time({.family = KernelFamily::gathered_attention,
                    .flops = Flops::from_base(1000),
                    .memory_bytes = Bytes::from_base(1000),
                    .memory_peak = Bandwidth::from_base(4'000'000'000'000),
                    .indexed = {.part = IndexedPart::attention,
                                .sequences = 32,
                                .before = 8191,
                                .heads = 64,
                                .index_heads = 4,
                                .top_k = 2048,
                                .block = block}});
}

// A GPU that has timings of blocks alone says nothing about single positions.
TEST(TimedBlocks, OnlyBlocksFollowTheirFit) {
  const auto unit = gpu();
  const KernelTime time = time_of(*unit, 128);
  EXPECT_NEAR(to_seconds(time.launch + time.body), seconds(part(3, kStep)), 1e-9);
  EXPECT_TRUE(time.beyond_timed);
  EXPECT_EQ(time_of(*unit, 1).timed_kernel, "");
}

}  // namespace
}  // namespace tiersim::block_form_test
