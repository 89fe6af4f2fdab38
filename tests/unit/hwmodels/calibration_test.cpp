// From a set of timings to fits by kernel and regime, and to the file that the simulator takes.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hwmodels/calibrate/fit/write_calibration.hpp"

namespace tiersim::calibration_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr KernelParameters kTruth{.t0 = 2e-6, .bandwidth = 4e12, .peak = 800e12, .sharpness = 2};

TimingCase timed(const std::string& kernel, const std::string& variant, double bytes,
                 double flops) {
  const double seconds = kernel_time(kTruth, {.bytes = bytes, .flops = flops});
  return {.where = "a.csv:2",
          .name = kernel + "." + variant + "." + std::to_string(bytes),
          .kernel = kernel,
          .variant = variant,
          .dtype = "bf16",
          .work = {.memory_bytes = bytes, .flops = flops},
          .seconds = seconds,
          .low = seconds / 1.01,
          .high = seconds * 1.01};
}

TimingSet set_of(const std::vector<std::pair<std::string, std::string>>& kernels) {
  TimingSet set{
      .device = "NVIDIA H200",
      .date = "2026-01-01",
      .data_class = "measured",
      .l2_bytes = 60e6,
      .peaks = {{.name = "memory", .value = 4.8e12}, {.name = "flops.bf16", .value = 989e12}}};
  for (const auto& [kernel, variant] : kernels)
    for (int i = 0; i < 9; ++i)
      set.cases.push_back(timed(kernel, variant, 1e6 * std::pow(3.0, i), 1e6 * std::pow(3.0, i)));
  return set;
}

std::vector<std::string> names(const Calibration& calibration) {
  std::vector<std::string> out;
  for (const KernelFit& fit : calibration.fits) out.push_back(fit.kernel);
  return out;
}

TEST(Regime, IsOfTheLevelThatServesTheBytes) {
  TimingCase c = timed("k", "", 30e6, 0);
  EXPECT_EQ(regime_of(c, 60e6), Regime::memory);  // cold, however small
  c.temperature = Temperature::warm;
  EXPECT_EQ(regime_of(c, 60e6), Regime::l2);
  c.work.memory_bytes = 60e6;
  EXPECT_EQ(regime_of(c, 60e6), std::nullopt);  // on the cliff
  c.work.memory_bytes = 90e6;
  EXPECT_EQ(regime_of(c, 60e6), Regime::memory);
  c.work.link_read_bytes = 1;
  EXPECT_EQ(regime_of(c, 60e6), Regime::link);
}

TEST(Regime, L2ServesWhatInstructionsAskFor) {
  TimingCase c = timed("k", "", 1e6, 0);
  c.work.requested_bytes = 8e6;
  EXPECT_EQ(point_of(c, Regime::l2).bytes, 8e6);
  EXPECT_EQ(point_of(c, Regime::memory).bytes, 1e6);
}

TEST(Calibrate, TilesAndRingsOfAKernelAreOneFit) {
  const Calibration calibration = calibrate(set_of(
      {{"dense_decode", "fma.ring2"}, {"dense_decode", "fma.ring3"}, {"gqa_decode", "mma"}}));
  EXPECT_THAT(names(calibration), ElementsAre("dense_decode/fma bf16", "gqa_decode/mma bf16"));
  EXPECT_EQ(calibration.fits.front().in_sample.count, 18);
}

TEST(Calibrate, RegimesAreKeptApartAndTheCliffIsLeftOut) {
  TimingSet set = set_of({{"lm_head", "rows"}});
  for (int i = 0; i < 8; ++i) {
    TimingCase c = timed("lm_head", "rows", 3e6 * (i + 1), 0);  // up to 24 MB of 60
    c.temperature = Temperature::warm;
    set.cases.push_back(c);
  }
  TimingCase cliff = timed("lm_head", "rows", 60e6, 0);
  cliff.temperature = Temperature::warm;
  cliff.name = "cliff";
  set.cases.push_back(cliff);
  const Calibration calibration = calibrate(set);
  ASSERT_EQ(calibration.fits.size(), 2U);
  EXPECT_EQ(calibration.fits[0].regime, Regime::memory);
  EXPECT_EQ(calibration.fits[1].regime, Regime::l2);
  ASSERT_EQ(calibration.left_out.size(), 1U);
  EXPECT_EQ(calibration.left_out[0].what, "cliff");
}

TEST(Calibrate, AKernelWithTooFewCasesIsNamed) {
  TimingSet set = set_of({{"dense_decode", "fma"}});
  set.cases.resize(5);
  const Calibration calibration = calibrate(set);
  EXPECT_THAT(calibration.fits, IsEmpty());
  ASSERT_EQ(calibration.left_out.size(), 1U);
  EXPECT_EQ(calibration.left_out[0].what, "dense_decode/fma bf16 (memory)");
  EXPECT_EQ(calibration.left_out[0].why, "5 cases, where a fit needs 6");
}

TEST(Calibrate, AFamilyUsesItsKernelAndTheFasterOfTwoVariants) {
  TimingSet set = set_of({{"latent_decode", "mma_sync"}, {"latent_decode", "wgmma"}});
  for (TimingCase& c : set.cases)
    if (c.variant == "mma_sync") c.seconds = c.high = 2 * (c.low = c.seconds);
  const Calibration calibration = calibrate(set);
  const KernelFit* fit = fit_for(KernelFamily::latent_attention, calibration);
  ASSERT_NE(fit, nullptr);
  EXPECT_EQ(fit->kernel, "latent_decode/wgmma bf16");
  EXPECT_EQ(fit_for(KernelFamily::attention, calibration), nullptr);
  EXPECT_EQ(fit_for(KernelFamily::prefill_attention, calibration), nullptr);
}

TEST(Calibrate, ALibrarysProductsStandForProductsWithWeights) {
  TimingSet set = set_of({{"projection", "cublaslt"}, {"head_product", "cublaslt"}});
  for (TimingCase& c : set.cases) c.baseline = true;
  const Calibration calibration = calibrate(set);
  const KernelFit* fit = fit_for(KernelFamily::gemm, calibration);
  ASSERT_NE(fit, nullptr);
  EXPECT_EQ(fit->kernel, "library_product/cublaslt bf16");
  EXPECT_EQ(fit->in_sample.count, 18);
}

TEST(IsPart, KnowsTheDriversNames) {
  EXPECT_TRUE(is_part("NVIDIA H200", "h200"));
  EXPECT_TRUE(is_part("NVIDIA H100 80GB HBM3", "h100"));
  EXPECT_TRUE(is_part("NVIDIA A100-SXM4-80GB", "a100_80"));
  EXPECT_TRUE(is_part("NVIDIA GeForce RTX 4090", "rtx4090"));
  EXPECT_TRUE(is_part("synthetic", "synthetic"));
  EXPECT_FALSE(is_part("NVIDIA GH200 480GB", "h200"));
  EXPECT_FALSE(is_part("NVIDIA A100-SXM4-40GB", "a100_80"));
  EXPECT_FALSE(is_part("NVIDIA H200", ""));
  EXPECT_FALSE(is_part("NVIDIA H200", "h20"));
  EXPECT_FALSE(is_part("NVIDIA L40S", "l4"));
}

TEST(GpuYaml, HoldsAFitWithIntervalsAndClasses) {
  const TimingSet set = set_of({{"dense_decode", "fma"}});
  const std::string yaml =
      gpu_yaml(set, calibrate(set), {.name = "h200/2026-01-01-x", .part = "h200"});
  EXPECT_THAT(yaml, HasSubstr("schema: tiersim.device/v1\nkernels:\n  attention:\n"));
  EXPECT_THAT(yaml, HasSubstr("class: fitted, ci95: ["));
  EXPECT_THAT(yaml, HasSubstr("part: h200\n"));
  EXPECT_THAT(yaml, Not(HasSubstr("gemm")));
}

TEST(ProblemsOf, AnArithmeticThatTheSimulatorLacksIsNamed) {
  TimingSet set = set_of({{"dense_decode", "fma"}});
  for (TimingCase& c : set.cases) c.dtype = "fp64";
  EXPECT_THAT(
      problems_of(set, calibrate(set), {.name = "h200/x", .part = "h200"}),
      ElementsAre("dense_decode/fma fp64: its operand type 'fp64' is none of the simulator's "
                  "(column dtype: bf16, fp8, int8, fp4, fp8_block)"));
}

TEST(ProblemsOf, AFitAboveTheDataSheetIsNamed) {
  TimingSet set = set_of({{"dense_decode", "fma"}});
  set.peaks.front().value = 3e12;  // and 4 TB/s were planted
  EXPECT_THAT(problems_of(set, calibrate(set), {.name = "h200/x", .part = "h200"}),
              ::testing::Contains(HasSubstr("is above the data sheet's 3e+12/s (memory)")));
}

// 4 TB/s were planted, with 8 % of noise: a data sheet of 3.9 may be right, and the fit is held at
// it.
TEST(Calibrate, ARateThatIsHardlyAboveTheDataSheetIsHeldAtIt) {
  TimingSet set = set_of({{"dense_decode", "fma"}});
  for (std::size_t i = 0; i < set.cases.size(); ++i) {
    const double noise = i % 3 == 0 ? 0.92 : i % 3 == 1 ? 1.08 : 1;
    TimingCase& timing = set.cases[i];
    timing.seconds *= noise;
    timing.low = timing.seconds * 0.99;
    timing.high = timing.seconds * 1.01;
  }
  const Calibration free = calibrate(set);
  ASSERT_EQ(free.fits.size(), 1U);
  EXPECT_FALSE(free.fits[0].held_bandwidth);
  const double best = free.fits[0].bandwidth.value;
  set.peaks.front().value = 0.98 * best;
  const Calibration held = calibrate(set);
  ASSERT_EQ(held.fits.size(), 1U);
  EXPECT_TRUE(held.fits[0].held_bandwidth);
  EXPECT_DOUBLE_EQ(held.fits[0].bandwidth.value, 0.98 * best);
  EXPECT_DOUBLE_EQ(held.fits[0].bandwidth.high, 0.98 * best);
  EXPECT_LT(held.fits[0].bandwidth.low, 0.97 * best);
  EXPECT_THAT(held.fits[0].notes, ::testing::Contains(HasSubstr("at which it is held")));
  const CalibrationOrigin origin{.name = "h200/x", .part = "h200"};
  EXPECT_TRUE(problems_of(set, held, origin).empty());
  EXPECT_THAT(gpu_yaml(set, held, origin),
              ::testing::ContainsRegex("bandwidth: \\{value: [0-9.]+ GB/s, class: specification"));
}

// Rows of other sizes, and rows of other tables, are other patterns of access.
TEST(FitName, HoldsThePatternOfAccess) {
  TimingCase timing = timed("gather", "loads", 1e6, 0);
  timing.dtype = "bytes";
  EXPECT_EQ(fit_name(timing), "gather/loads bytes");
  timing.shape = {{"row_bytes", 256}, {"table_rows", 1024}, {"rows", 7}, {"huge_pages", 0}};
  EXPECT_EQ(fit_name(timing), "gather/loads bytes row_bytes=256 table_rows=1024");
  timing.shape = {{"row_bytes", 0}, {"table_bytes", 4096}};  // all of an array
  EXPECT_EQ(fit_name(timing), "gather/loads bytes");
  timing.shape = {{"latent_dim", 512}, {"batch", 3}};
  EXPECT_EQ(fit_name(timing), "gather/loads bytes");
  timing.shape["heads"] = 16;
  EXPECT_EQ(fit_name(timing), "gather/loads bytes latent_dim=512");
  timing.shape = {{"tokens", 8192}, {"concentrated", 1}};
  EXPECT_EQ(fit_name(timing), "gather/loads bytes");  // scores that are close take little longer
}

// The user's kernel stands for the family alone, though one of ours is in the file as well.
TEST(GpuYaml, AKernelOfTheUserStandsForItsFamily) {
  TimingSet set = set_of({{"mine", "fma"}, {"dense_decode", "fma"}});
  const CalibrationOrigin origin{.name = "h200/2026-01-01-x", .part = "h200"};
  EXPECT_THAT(gpu_yaml(set, calibrate(set), origin),
              HasSubstr("  attention:\n    kernel: \"dense_decode/fma bf16\""));
  set.families = {{"mine", KernelFamily::attention}};
  const std::string yaml = gpu_yaml(set, calibrate(set), origin);
  EXPECT_THAT(yaml, HasSubstr("  attention:\n    kernel: \"mine/fma bf16\""));
  EXPECT_THAT(yaml, Not(HasSubstr("dense_decode")));
  set.families = {{"mine", KernelFamily::prefill_attention}};
  EXPECT_THAT(gpu_yaml(set, calibrate(set), origin),
              HasSubstr("  prefill_attention:\n    kernel: \"mine/fma bf16\""));
}

// Timings that no card produced are not fitted to a card.
TEST(GpuYaml, WhatWasNotMeasuredIsAssumed) {
  TimingSet set = set_of({{"dense_decode", "fma"}});
  set.data_class = "synthetic";
  const std::string yaml =
      gpu_yaml(set, calibrate(set), {.name = "h200/2026-01-01-x", .part = "h200"});
  EXPECT_THAT(yaml, Not(HasSubstr("class: fitted")));
}

TEST(ProblemsOf, NamesWhatIsMissingAllAtOnce) {
  TimingSet set = set_of({{"dense_decode", "fma"}});
  const Calibration calibration = calibrate(set);
  const CalibrationOrigin origin{.name = "h200/2026-01-01-x", .part = "h200"};
  EXPECT_THAT(problems_of(set, calibration, origin), IsEmpty());
  set.peaks.clear();
  set.device = "NVIDIA H100 PCIe";
  EXPECT_THAT(
      problems_of(set, calibration, origin),
      ElementsAre("was timed on 'NVIDIA H100 PCIe', which is no h200",
                  "the data-sheet rate of the device's memory is not stated (--peak memory=RATE)",
                  "the data-sheet rate of bf16 arithmetic is not stated (--peak flops.bf16=RATE)"));
  set.data_class = "none";
  EXPECT_THAT(problems_of(set, calibration, origin),
              ::testing::Contains("times of a dry run say nothing of any device"));
}

}  // namespace
}  // namespace tiersim::calibration_test
