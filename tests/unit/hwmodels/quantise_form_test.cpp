// Quantisation of activations: limits that can be counted by hand, planted truth that a fit must
// find again, and what a product takes whose input comes quantised.
#include "hwmodels/forms/quantise_form.hpp"

#include <gtest/gtest.h>

#include "hwmodels/calibrate/fit/form_fit.hpp"
#include "hwmodels/calibrate/fit/write_forms.hpp"
#include "hwmodels/forms/product_form.hpp"
#include "tests/unit/hwmodels/timed_gpu.hpp"

namespace tiersim::quantise_form_test {
namespace {

const GpuSheet kSheet{.memory = 4.8e12, .peak = 1979e12, .l2_bytes = 50e6, .warm = 0, .sms = 132};
const std::vector<double> kTruth{7e-6, 2};

double seconds(const QuantiseCase& c) {
  return quantise_form().physics(c.sizes(), kSheet, kTruth, 0);
}

TEST(QuantiseForm, TakesItsFloorAndItsPasses) {
  EXPECT_NEAR(seconds({.m = 1, .k = 64}), 7e-6, 1e-9);
  // Two passes over 2 bytes read and 1 written of 2^27 elements.
  EXPECT_NEAR(seconds({.m = 16384, .k = 8192}), 7e-6 + 2. * 3 * 134217728 / 4.8e12, 1e-9);
}

TEST(QuantiseForm, AFitFindsPlantedTimes) {
  std::vector<FormTiming> rows;
  for (const double m : {1., 4., 16., 64., 256., 1024., 4096., 16384.})
    for (const double k : {512., 1024., 2048., 4096., 8192., 16384.}) {
      const QuantiseCase c{.m = m, .k = k};
      rows.push_back({c.sizes(), std::to_string(k), seconds(c)});
    }
  const FormFit fit = fit_form(quantise_form(), rows, kSheet);
  EXPECT_NEAR(fit.model.parameters[0], kTruth[0], 0.01 * kTruth[0]);
  EXPECT_NEAR(fit.model.parameters[1], kTruth[1], 0.02 * kTruth[1]);
  EXPECT_LT(fit.unseen.p90, 0.01);
}

// One product each in fp8, fp4 and bf16, and the quantisation that the time of the fp8 one holds.
std::unique_ptr<ComputeUnit> gpu() {
  FormFit fp8;
  fp8.model = {.form = &product_form(),
               .variant = 0,
               .parameters = {1.2e-5, 0.8, 0.7, 0.2, 5e-8, 2e-6, 0.4, 0.9, 3, 1.5, 1.2, 1},
               .surface = {}};
  fp8.least = {1, 512, 512, 1, 1, 1, 1};
  fp8.most = {8192, 16384, 16384, 1, 1, 1, 5};
  FormFit bf16 = fp8;
  bf16.model.parameters.front() = 2.7e-6;
  FormFit fp4 = fp8;
  fp4.least[3] = fp4.most[3] = fp4.least[4] = fp4.most[4] = 0.5625;
  FormFit quantise;
  quantise.model = {.form = &quantise_form(), .variant = 0, .parameters = kTruth, .surface = {}};
  quantise.least = {1, 512, 1};
  quantise.most = {32768, 16384, 1};
  const std::string timed =
      timed_kernels_yaml("tiersim calibrate", "h200/engine-1", "h200",
                         {{"torch fp8", "gemm", "fp8", "made up", &fp8, kSheet},
                          {"torch nvfp4", "gemm", "fp4", "made up", &fp4, kSheet},
                          {"torch bfloat16", "gemm", "bf16", "made up", &bf16, kSheet},
                          {"scale fp8", "quantisation", "fp8", "made up", &quantise, kSheet}});
  const testing::LoadedGpu made = testing::load_gpu(timed);
  EXPECT_EQ(made.mistakes, "");
  return make_device(made.config);
}

double product(const ComputeUnit& unit, ProductInput input,
               Arithmetic arithmetic = Arithmetic::fp8) {
  const KernelTime time =
      unit.time({.family = KernelFamily::gemm,
                 .arithmetic = arithmetic,
                 .flops = Flops::from_base(2L * 64 * 8192 * 8192),
                 .memory_bytes = Bytes::from_base(8192L * 8192),
                 .memory_peak = Bandwidth::from_base(4'800'000'000'000),
                 .matrix = {.rows = 64, .columns = 8192, .depth = 8192, .input = input}});
  return to_seconds(time.launch + time.body);
}

TEST(TimedProduct, IsFasterByWhatItsTimingsHoldOfTheQuantisation) {
  const auto unit = gpu();
  const double timed = product(*unit, ProductInput::unscaled);
  const double quantising = seconds({.m = 64, .k = 8192});
  EXPECT_NEAR(product(*unit, ProductInput::scaled), timed - quantising, 1e-9);
  // And by a kernel that divides by the scale: as long as the shortest one, with its bytes.
  const double dividing = 2.7e-6 + 3. * 64 * 8192 / 4.8e12;
  EXPECT_NEAR(product(*unit, ProductInput::quantised), timed - quantising - dividing, 1e-9);
}

// Nobody timed the kernel that quantises to fp4. It divides by a known scale: as long as the
// shortest kernel, with its bytes. An engine that runs it anyway gains nothing.
TEST(TimedProduct, InFp4IsFasterByAKernelThatDivides) {
  const auto unit = gpu();
  const double timed = product(*unit, ProductInput::unscaled, Arithmetic::fp4);
  EXPECT_EQ(product(*unit, ProductInput::scaled, Arithmetic::fp4), timed);
  const double dividing = 2.7e-6 + 2.5625 * 64 * 8192 / 4.8e12;
  EXPECT_NEAR(product(*unit, ProductInput::quantised, Arithmetic::fp4), timed - dividing, 1e-9);
}

TEST(TimedProduct, IsNeverFasterThanItsBytes) {
  const auto unit = gpu();
  KernelWork work{
      .family = KernelFamily::gemm,
      .arithmetic = Arithmetic::fp8,
      .memory_bytes = Bytes::from_base(1'000'000'000),
      .memory_peak = Bandwidth::from_base(4'800'000'000'000),
      .matrix = {.rows = 1, .columns = 512, .depth = 512, .input = ProductInput::quantised}};
  EXPECT_GE(unit->time(work).body, work.memory_bytes / work.memory_peak);
}

}  // namespace
}  // namespace tiersim::quantise_form_test
