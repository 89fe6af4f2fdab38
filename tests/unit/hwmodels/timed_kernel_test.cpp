// Kernels that follow fitted forms: which one an operation takes, how long it then takes, and what
// is said of its time.
#include "hwmodels/compute/timed_kernel.hpp"

#include <gtest/gtest.h>

#include "hwmodels/calibrate/fit/write_forms.hpp"
#include "hwmodels/forms/decode_form.hpp"
#include "hwmodels/forms/experts_form.hpp"
#include "hwmodels/forms/product_form.hpp"
#include "tests/unit/hwmodels/timed_gpu.hpp"

namespace tiersim::timed_kernel_test {
namespace {

using testing::kUntimedGpu;
using testing::load_gpu;
using testing::LoadedGpu;

const GpuSheet kSheet{.memory = 4.8e12, .peak = 989e12, .l2_bytes = 50e6, .warm = 0, .sms = 132};

FormFit product_fit() {
  FormFit fit;
  fit.model = {.form = &product_form(),
               .variant = 0,
               .parameters = {3e-6, 0.8, 0.85, 0.2, 5e-8, 2e-6, 0.4, 0.9, 3, 1.5, 1.2, 1},
               .surface = std::vector<double>(200, 0.1)};
  fit.least = {1, 512, 512, 2, 2, 0, 1};
  fit.most = {8192, 16384, 16384, 2, 2, 0, 5};
  fit.scatter = {0.9, 1.2};
  return fit;
}

FormFit decode_fit(double head_dim, double t0) {
  FormFit fit;
  fit.model = {.form = &decode_form(),
               .variant = 0,
               .parameters = {t0, 3e-6, 5e-9, 5e10, 0.9, 5, 0.4, 2.5, 1e-6, 1e-9, 25, 0.8, 1.4},
               .surface = {}};
  fit.least = {1, 1, 2, head_dim, 1, 0, 2};
  fit.most = {1024, 64, 32, head_dim, 131072, 0, 2};
  fit.scatter = {0.9, 1.2};
  return fit;
}

// Timed with skewed loads alone, as early tables are.
FormFit experts_fit() {
  FormFit fit;
  fit.model = {
      .form = &experts_form(),
      .variant = 0,
      .parameters = {2e-5, 0.85, 0.8, 0.3, 0.6, 2.5, 3, 4, 2e-8, 1e-8, 4e-10, 2, 1.1, 0.4, 2},
      .surface = std::vector<double>(45, 0.1)};
  fit.least = {1, 2048, 256, 1, 8, 1, 1, 2, 2, 1.01};
  fit.most = {16384, 8192, 16384, 8, 256, 256, 1, 2, 2, 1.2};
  fit.scatter = {0.9, 1.2};
  return fit;
}

std::string yaml_of_experts() {
  const FormFit product = product_fit();
  const FormFit experts = experts_fit();
  return timed_kernels_yaml("tiersim calibrate", "h200/engine-1", "h200",
                            {{"torch bfloat16", "gemm", "bf16", "made up", &product, kSheet},
                             {"moe bfloat16", "experts", "bf16", "made up", &experts, kSheet}});
}

std::string yaml() {
  const FormFit product = product_fit();
  const FormFit narrow = decode_fit(64, 4e-6);
  const FormFit wide = decode_fit(128, 5e-6);
  return timed_kernels_yaml("tiersim calibrate", "h200/engine-1", "h200",
                            {{"torch bfloat16", "gemm", "bf16", "made up", &product, kSheet},
                             {"flash 64", "grouped_attention", "bf16", "made up", &narrow, kSheet},
                             {"flash 128", "grouped_attention", "bf16", "made up", &wide, kSheet}});
}

std::unique_ptr<ComputeUnit> unit(std::string gpu = std::string(kUntimedGpu)) {
  const LoadedGpu made = load_gpu(yaml(), std::move(gpu));
  EXPECT_EQ(made.mistakes, "");
  return make_device(made.config);
}

KernelWork product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.family = KernelFamily::gemm,
          .flops = Flops::from_base(2) * (m * n * k),
          .memory_bytes = Bytes::from_base(2 * n * k),
          .memory_peak = Bandwidth::from_base(4'800'000'000'000),
          .matrix = {.rows = m, .columns = n, .depth = k}};
}
KernelWork decode(std::int64_t head_dim) {
  return {.family = KernelFamily::grouped_attention,
          .memory_peak = Bandwidth::from_base(4'800'000'000'000),
          .attention = {
              .sequences = 16, .heads = 32, .kv_heads = 8, .head_dim = head_dim, .before = 4095}};
}
// 256 tokens of 8 of 128 experts, half of which this GPU has. Gate and up are 2 of 3 parts.
KernelWork experts(std::int64_t part) {
  return {.family = KernelFamily::experts,
          .flops = Flops::from_base(2) * (1024 * part * 2048 * 768),
          .memory_bytes = Bytes::from_base(64 * part * 2048 * 768 * 2),
          .memory_peak = Bandwidth::from_base(4'800'000'000'000),
          .matrix = {.rows = 16, .columns = 768 * part, .depth = 2048, .count = 64},
          .experts = {.tokens = 256,
                      .hidden = 2048,
                      .intermediate = 768,
                      .top_k = 8,
                      .experts = 128,
                      .held = 64,
                      .reached = 60,
                      .routed = 1024,
                      .part = part,
                      .parts = 3}};
}
double microseconds(const KernelTime& time) {
  return to_seconds(time.launch + time.body) * 1e6;
}

TEST(TimedKernel, TakesTheTimeOfItsFormWithTheWeightsInMemory) {
  const KernelTime time = unit()->time(product(64, 4096, 4096));
  const ProductCase same{.m = 64, .n = 4096, .k = 4096, .copies = 0};
  EXPECT_NEAR(microseconds(time), form_time(product_fit().model, same.sizes(), kSheet) * 1e6, 1e-3);
  EXPECT_NEAR(to_seconds(time.launch), 3e-6, 1e-12);
  EXPECT_FALSE(time.beyond_timed);
}

TEST(TimedKernel, GoesOnWithTheSurfaceOfTheNearestSizesBeyondWhatWasTimed) {
  const KernelTime time = unit()->time(product(64, 128'256, 4096));
  const ProductCase same{.m = 64, .n = 128'256, .k = 4096, .copies = 0};
  const ProductCase edge{.m = 64, .n = 16'384, .k = 4096, .copies = 0};
  const FittedForm& fitted = product_fit().model;
  FittedForm plain = fitted;
  plain.surface.clear();
  const double surface =
      form_time(fitted, edge.sizes(), kSheet) / form_time(plain, edge.sizes(), kSheet);
  EXPECT_GT(surface, 1.01);
  EXPECT_NEAR(microseconds(time), surface * form_time(plain, same.sizes(), kSheet) * 1e6, 1e-2);
  EXPECT_TRUE(time.beyond_timed);
}

TEST(TimedKernel, RunsOnlyOperationsOfItsFamily) {
  KernelWork latent = decode(128);
  latent.family = KernelFamily::latent_attention;
  EXPECT_EQ(unit()->time(latent).launch, Duration(2'000'000));  // as specified
  EXPECT_EQ(unit()->basis(KernelFamily::latent_attention).basis, "specification");
  KernelWork each_its_own = decode(128);
  each_its_own.family = KernelFamily::attention;
  EXPECT_EQ(unit()->time(each_its_own).body, unit()->time(decode(128)).body);
}

TEST(TimedKernel, OfAKindOfScalesStandsInForTheOther) {
  std::string text = yaml();
  for (std::size_t at = 0; (at = text.find("arithmetic: bf16", at)) != std::string::npos;)
    text.replace(at, 16, "arithmetic: fp8");
  const auto gpu = make_device(load_gpu(text).config);
  KernelWork blocks = product(64, 4096, 4096);
  blocks.arithmetic = Arithmetic::fp8_block;
  EXPECT_EQ(gpu->time(blocks).timed_kernel, "product_torch_bfloat16");
}

TEST(TimedKernel, OfAWarmInputMayBeFasterThanMemory) {
  KernelWork small = product(1, 1024, 1024);
  small.memory_bytes = Bytes::from_base(100'000'000);  // of a benchmark that finds them in L2
  const Duration by_memory = small.memory_bytes / small.memory_peak;
  EXPECT_GE(unit()->time(small).body, by_memory);
  small.warm = true;
  EXPECT_LT(unit()->time(small).body, by_memory);
}

TEST(TimedKernel, OfManyMatricesIsTheProductOfAllTheirColumns) {
  KernelWork experts = product(16, 2048, 2048);
  experts.matrix.count = 8;
  experts.memory_bytes = Bytes::from_base(2 * 8 * 2048 * 2048);
  EXPECT_EQ(unit()->time(experts).body, unit()->time(product(16, 8 * 2048, 2048)).body);
}

TEST(TimedKernel, IsTheOneOfTheNearestSizes) {
  EXPECT_NEAR(to_seconds(unit()->time(decode(64)).launch), 4e-6, 1e-12);
  EXPECT_NEAR(to_seconds(unit()->time(decode(128)).launch), 5e-6, 1e-12);
  EXPECT_FALSE(unit()->time(decode(128)).beyond_timed);
  EXPECT_NEAR(to_seconds(unit()->time(decode(256)).launch), 5e-6, 1e-12);
  EXPECT_TRUE(unit()->time(decode(256)).beyond_timed);
}

TEST(TimedKernel, TheProductsOfALayersExpertsShareItsTime) {
  const auto gpu = make_device(load_gpu(yaml_of_experts()).config);
  const KernelTime up = gpu->time(experts(2));
  const KernelTime down = gpu->time(experts(1));
  const ExpertsCase same{.tokens = 256,
                         .hidden = 2048,
                         .intermediate = 768,
                         .top_k = 8,
                         .experts = 128,
                         .expert_parallel = 2};
  const double all = form_time_of_features(experts_fit().model,
                                           experts_features(same, mean_loads(60, 1024)), kSheet);
  EXPECT_NEAR(microseconds(up), all * 1e6 * 2 / 3, 1e-3);
  EXPECT_NEAR(microseconds(down), all * 1e6 / 3, 1e-3);
  EXPECT_NEAR(to_seconds(up.launch + down.launch), 2e-5, 1e-11);
  EXPECT_FALSE(up.beyond_timed);  // the loads are those of the step, not of the timings
  EXPECT_EQ(gpu->basis(KernelFamily::experts).source, "h200/engine-1: moe bfloat16");
  EXPECT_EQ(gpu->family_for(KernelFamily::experts), KernelFamily::experts);
}

// Shared experts of 1536 in bf16, which 128 tokens pass.
void add_shared(KernelWork& work) {
  work.experts.shared_tokens = 128;
  work.experts.shared_width = 1536;
  work.experts.shared_hidden = 2048;
  work.experts.shared_bits = 16;
}

TEST(TimedKernel, SharedExpertsAreTwoProductsMore) {
  const auto gpu = make_device(load_gpu(yaml_of_experts()).config);
  KernelWork work = experts(3);
  const double routed = microseconds(gpu->time(work));
  add_shared(work);
  KernelWork shared = product(128, 2 * 1536, 2048);
  double products = microseconds(gpu->time(shared));
  shared = product(128, 2048, 1536);
  products += microseconds(gpu->time(shared));
  EXPECT_NEAR(microseconds(gpu->time(work)), routed + products, 1e-3);
}

// If shared experts run beside the routed ones, they add only the time of their weights at the
// memory's peak bandwidth (3 * 1536 * 2048 of 2 bytes) or that of their FLOPs at the peak rate,
// whichever is longer.
TEST(TimedKernel, SharedExpertsBesideRoutedOnesAddTheirLeastTime) {
  const auto gpu = make_device(load_gpu(yaml_of_experts()).config);
  KernelWork work = experts(3);
  const double routed = microseconds(gpu->time(work));
  add_shared(work);
  work.experts.shared_beside = true;
  const double bytes = 3. * 1536 * 2048 * 2 / static_cast<double>(work.memory_peak.in_base());
  EXPECT_NEAR(microseconds(gpu->time(work)), routed + bytes * 1e6, 1e-3);
  // Of 1024 tokens the arithmetic takes longer than the bytes.
  work.experts.shared_tokens = 1024;
  const double flops = 2. * 3 * 1536 * 2048 * 1024 / 989e12;
  EXPECT_NEAR(microseconds(gpu->time(work)), routed + flops * 1e6, 1e-3);
}

TEST(TimedKernel, ExpertsWithoutTimingsAreProducts) {
  const auto gpu = unit();
  EXPECT_EQ(gpu->family_for(KernelFamily::experts), KernelFamily::gemm);
  EXPECT_EQ(gpu->basis(KernelFamily::experts).source, "h200/engine-1: torch bfloat16");
  KernelWork as_product = experts(2);
  as_product.family = KernelFamily::gemm;
  EXPECT_EQ(gpu->time(experts(2)).body, gpu->time(as_product).body);
  // Also where only another arithmetic was timed.
  KernelWork fp8 = experts(2);
  fp8.arithmetic = Arithmetic::fp8;
  as_product.arithmetic = Arithmetic::fp8;
  EXPECT_EQ(make_device(load_gpu(yaml_of_experts()).config)->time(fp8).body,
            gpu->time(as_product).body);
}

TEST(TimedKernel, OfNoTimedArithmeticOrFormFollowsTheSpecification) {
  KernelWork other = product(64, 4096, 4096);
  other.arithmetic = Arithmetic::fp8;
  EXPECT_EQ(unit()->time(other).launch, Duration(2'000'000));
  KernelWork shapeless = decode(128);
  shapeless.attention = {};
  EXPECT_EQ(unit()->time(shapeless).launch, Duration(2'000'000));
  EXPECT_EQ(unit()->basis(KernelFamily::screening).basis, "specification");
}

TEST(TimedKernel, SaysWhereItsNumbersAreFrom) {
  const KernelBasis basis = unit()->basis(KernelFamily::gemm);
  EXPECT_EQ(basis.basis, "fitted");
  EXPECT_EQ(basis.number_class, NumberClass::fitted);
  EXPECT_EQ(basis.source, "h200/engine-1: torch bfloat16");
  EXPECT_EQ(unit()->basis(KernelFamily::grouped_attention).source,
            "h200/engine-1: flash 128, flash 64");
}

TEST(TimedKernel, OnAnotherPartFollowsItsDataSheet) {
  std::string gpu(kUntimedGpu);
  gpu.replace(gpu.find("h200"), 4, "h100");
  EXPECT_EQ(unit(gpu)->basis(KernelFamily::gemm).basis, "transferred");
  EXPECT_EQ(unit(gpu)->basis(KernelFamily::gemm).number_class, NumberClass::assumed);
  KernelWork slow = product(1, 16384, 16384);
  slow.memory_peak = Bandwidth::from_base(2'400'000'000'000);
  const double there = microseconds(unit(gpu)->time(slow)) - 3;
  const double here = microseconds(unit()->time(product(1, 16384, 16384))) - 3;
  EXPECT_NEAR(there / here, 2, 0.15);  // bytes take twice as long; floors and tiles do not
}

TEST(TimedKernel, IsNeverFasterThanTheDataSheet) {
  std::string fast = yaml();
  const std::string misfit = "value: 1, class: fitted, ci95: [0.9000, 1.2000]";
  fast.replace(fast.find(misfit), misfit.size(), "value: 0.02, class: fitted");
  const LoadedGpu made = load_gpu(fast);
  ASSERT_EQ(made.mistakes, "");
  const KernelWork large = product(8192, 8192, 8192);
  const KernelTime time = make_device(made.config)->time(large);
  EXPECT_GE(time.body, large.flops / FlopRate::from_base(989'000'000'000'000));
}

TEST(TimedKernel, NamesEveryMistake) {
  const auto mistakes = [](std::string_view from, std::string_view to) {
    std::string text = yaml();
    text.replace(text.find(from), from.size(), to);
    return load_gpu(text).mistakes;
  };
  const auto expect = [](const std::string& said, std::string_view text) {
    EXPECT_NE(said.find(text), std::string::npos) << said;
  };
  expect(mistakes("form: product", "form: produce"), "is no form");
  expect(mistakes("variant: \"library\"", "variant: \"any\""), "is no variant");
  expect(mistakes("memory: 0.8,", "memory: 8,"), "is not from 0.2 to 1.2");
  expect(mistakes("wave: 0.4", "wav: 0.4"), "lacks 'wave'");
  expect(mistakes("wave: 0.4", "wav: 0.4"), "parameters.wav: is not of this form");
  expect(mistakes("surface: [0.1, ", "surface: ["), "has 199 coefficients instead of 200");
  expect(mistakes("least: {m: 1,", "least: {"), "lacks 'm'");
}

}  // namespace
}  // namespace tiersim::timed_kernel_test
