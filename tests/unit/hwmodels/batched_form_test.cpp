// Products of heads in one call: limits that can be counted by hand, planted truth that a fit must
// find again, and which kernel a step asks for.
#include "hwmodels/forms/batched_form.hpp"

#include <gtest/gtest.h>

#include "hwmodels/calibrate/fit/form_fit.hpp"
#include "hwmodels/calibrate/fit/write_forms.hpp"
#include "tests/unit/hwmodels/timed_gpu.hpp"

namespace tiersim::batched_form_test {
namespace {

constexpr GpuSheet kStep{.memory = 4.8e12, .peak = 989e12, .l2_bytes = 50e6, .warm = 0, .sms = 132};
constexpr GpuSheet kBenchmark{
    .memory = 4.8e12, .peak = 989e12, .l2_bytes = 50e6, .warm = 1, .sms = 132};
const std::vector<double> kTruth{4e-6, 1.5, 2};

double seconds(const BatchedCase& c, const GpuSheet& sheet = kStep) {
  return batched_form().physics(c.sizes(), sheet, kTruth, 0);
}

// 16 heads: 2 MiB of matrices, and 2 bytes of each of 512 + 128 numbers of a token and head.
TEST(BatchedForm, TakesItsFloorItsMatricesAndItsRows) {
  const BatchedCase one{.m = 1, .n = 512, .k = 128, .batch = 16};
  const double rows = 1.5 * 2 * 16 * 640 / 4.8e12;
  EXPECT_NEAR(seconds(one), 4e-6 + 2097152 / 4.8e12 + rows, 1e-15);
  EXPECT_NEAR(seconds(one, kBenchmark), 4e-6 + 2097152 / 9.6e12 + rows, 1e-15);
  // 1024 heads have 128 MiB, which no L2 holds.
  const BatchedCase large{.m = 1, .n = 512, .k = 128, .batch = 1024};
  EXPECT_EQ(seconds(large), seconds(large, kBenchmark));
}

TEST(BatchedForm, OfManyTokensTakesItsArithmetic) {
  const BatchedCase many{.m = 1 << 20, .n = 4096, .k = 4096, .batch = 1};
  EXPECT_NEAR(seconds(many), 4e-6 + 2. * (1 << 20) * 4096 * 4096 / 989e12, 1e-9);
}

FormFit planted() {
  std::vector<FormTiming> rows;
  for (const double m : {1., 4., 16., 64., 256., 1024., 4096.})
    for (const double batch : {1., 4., 16., 64., 128.})
      for (const bool pre : {true, false}) {
        const BatchedCase c{.m = m, .n = pre ? 512. : 128., .k = pre ? 128. : 512., .batch = batch};
        rows.push_back({c.sizes(), std::to_string(batch), seconds(c, kBenchmark)});
      }
  return fit_form(batched_form(), rows, kBenchmark);
}

TEST(BatchedForm, AFitFindsPlantedTimes) {
  const FormFit fit = planted();
  EXPECT_NEAR(fit.model.parameters[0], kTruth[0], 0.02 * kTruth[0]);
  EXPECT_NEAR(fit.model.parameters[1], kTruth[1], 0.1 * kTruth[1]);
  EXPECT_LT(fit.unseen.p90, 0.02);
}

std::unique_ptr<ComputeUnit> gpu(bool timed) {
  std::string kernels;
  if (timed) {
    const FormFit fit = planted();
    kernels =
        timed_kernels_yaml("tiersim calibrate", "h200/engine-1", "h200",
                           {{"bmm bfloat16", "batched_gemm", "bf16", "made up", &fit, kBenchmark}});
  }
  const testing::LoadedGpu made = testing::load_gpu(kernels);
  EXPECT_EQ(made.mistakes, "");
  return make_device(made.config);
}

KernelWork heads(KernelFamily family, Arithmetic arithmetic) {
  return {.family = family,
          .arithmetic = arithmetic,
          .flops = Flops::from_base(2L * 8 * 16 * 512 * 128),
          .memory_bytes = Bytes::from_base(2L * 16 * 512 * 128),
          .memory_peak = Bandwidth::from_base(4'800'000'000'000),
          .matrix = {.rows = 8, .columns = 512, .depth = 128, .count = 16}};
}

double microseconds(const KernelTime& time) {
  return to_seconds(time.launch + time.body) * 1e6;
}

// Engines keep these matrices in bf16 unless they have a kernel for 8 bits, so a step in fp8 takes
// the timings in bf16 if there are no others.
TEST(TimedBatch, IsThatOfItsArithmeticOrOfBf16) {
  const auto unit = gpu(true);
  const double expected = seconds({.m = 8, .n = 512, .k = 128, .batch = 16}) * 1e6;
  const auto bf16 = unit->time(heads(KernelFamily::batched_gemm, Arithmetic::bf16));
  EXPECT_NEAR(microseconds(bf16), expected, 0.03 * expected);
  EXPECT_FALSE(bf16.timed_kernel.empty());
  EXPECT_EQ(unit->time(heads(KernelFamily::batched_gemm, Arithmetic::fp8_block)).timed_kernel,
            bf16.timed_kernel);
  EXPECT_EQ(unit->family_for(KernelFamily::batched_gemm), KernelFamily::batched_gemm);
}

TEST(TimedBatch, IsAProductWhereNobodyTimedIt) {
  const auto unit = gpu(false);
  EXPECT_EQ(unit->family_for(KernelFamily::batched_gemm), KernelFamily::gemm);
  EXPECT_EQ(microseconds(unit->time(heads(KernelFamily::batched_gemm, Arithmetic::bf16))),
            microseconds(unit->time(heads(KernelFamily::gemm, Arithmetic::bf16))));
}

}  // namespace
}  // namespace tiersim::batched_form_test
