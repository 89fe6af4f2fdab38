// Rows of tables as operations of a step.
#include "sim/validate/timed_rows.hpp"

#include <gtest/gtest.h>

#include "tests/support/shipped.hpp"

namespace tiersim::timed_rows_test {
namespace {

System system_with(const std::string& calibration) {
  const bool l40s = calibration.starts_with("l40s");
  return build_system(testing::scenario(
      "scenarios/methods/llama3_8b_dense_hbm.yaml",
      {std::string("system.base=systems/") + (l40s ? "l40s_host_dram.yaml" : "h200_host_dram.yaml"),
       "system.gpu.calibration=" + calibration}));
}

FormColumns columns(const char* form, KernelFamily family) {
  FormColumns out;
  out.name = form;
  out.family = family;
  return out;
}

// 2 * 64 * 4096 * 4096 operations; 2 bytes of each element.
TimingRow product() {
  TimingRow row;
  row.seconds = 10e-6;
  row.flops = 2.0 * 64 * 4096 * 4096;
  row.memory_bytes = 2.0 * (64 * 4096 + 4096 * 4096 + 64 * 4096);
  row.form_sizes = {64, 4096, 4096, 2, 2, 0, 0};
  return row;
}

TEST(TimedRows, WithoutCalibrationTakeTheTimeOfTheDataSheet) {
  const System system = system_with("none");
  const auto answer = answer_row(system, columns("product", KernelFamily::gemm), "bf16", product());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->measured, 10e-6);
  // 34.6 MB at .92 of 4.8 TB/s, and 2 us of launch.
  EXPECT_NEAR(answer->simulated, 2e-6 + product().memory_bytes / (0.92 * 4.8e12), 1e-6);
  EXPECT_EQ(answer->low, answer->high);
  EXPECT_FALSE(answer->beyond);
}

TEST(TimedRows, WithCalibrationHaveAnInterval) {
  const System system = system_with("h200/vllm-0.24.0");
  const FormColumns gemm = columns("product", KernelFamily::gemm);
  TimingRow row = product();
  const auto answer = answer_row(system, gemm, "bf16", row);
  ASSERT_TRUE(answer);
  EXPECT_LT(answer->low, answer->simulated);
  EXPECT_GT(answer->high, answer->simulated);
  row.form_sizes[1] = 1'000'000;
  EXPECT_TRUE(answer_row(system, gemm, "bf16", row)->beyond);
}

// An L40S holds 96 MiB in an L2 that is faster than its memory.
TEST(TimedRows, MayLieInL2) {
  const System system = system_with("l40s/vllm-0.24.0");
  const FormColumns gemm = columns("product", KernelFamily::gemm);
  TimingRow row = product();
  const auto cold = answer_row(system, gemm, "bf16", row);
  row.form_sizes.back() = 1;  // one copy of 34 MB
  const auto warm = answer_row(system, gemm, "bf16", row);
  ASSERT_TRUE(cold && warm);
  EXPECT_LT(warm->simulated, 0.8 * cold->simulated);
}

TEST(TimedRows, OfAttentionAndExpertsAreThatOperation) {
  const System system = system_with("h200/vllm-0.24.0");
  TimingRow row = product();
  row.form_sizes = {16, 8, 4, 128, 4096, 0, 2};
  const auto short_context =
      answer_row(system, columns("decode_attention", KernelFamily::grouped_attention), "bf16", row);
  row.form_sizes[4] = 65536;
  const auto long_context =
      answer_row(system, columns("decode_attention", KernelFamily::grouped_attention), "bf16", row);
  ASSERT_TRUE(short_context && long_context);
  EXPECT_GT(long_context->simulated, 8 * short_context->simulated);
  row.form_sizes = {256, 2048, 768, 8, 128, 1, 1, 2, 2, 0};
  const FormColumns experts = columns("experts", KernelFamily::experts);
  const auto balanced = answer_row(system, experts, "bf16", row);
  row.form_sizes[0] = 16384;
  const auto many = answer_row(system, experts, "bf16", row);
  ASSERT_TRUE(balanced && many);
  EXPECT_GT(many->simulated, 2 * balanced->simulated);
}

TEST(TimedRows, OfLinearAttentionAreThatOperation) {
  const System system = system_with("h200/vllm-0.24.0");
  const auto seconds = [&](const char* form, KernelFamily family, std::vector<double> sizes) {
    TimingRow row = product();
    row.form_sizes = std::move(sizes);
    const auto answer = answer_row(system, columns(form, family), "bf16", row);
    EXPECT_TRUE(answer && !answer->beyond);
    return answer ? answer->simulated : 0;
  };
  constexpr KernelFamily kLinear = KernelFamily::linear_attention;
  // Twice the states of more than L2 holds, twice the time.
  EXPECT_NEAR(seconds("linear_update", kLinear, {512, 1, 1, 16, 32, 128, 128, 4, 0}) /
                  seconds("linear_update", kLinear, {256, 1, 1, 16, 32, 128, 128, 4, 0}),
              2, 0.1);
  EXPECT_NEAR(seconds("linear_scan", kLinear, {1, 32768, 0, 16, 32, 128, 128, 4, 0}) /
                  seconds("linear_scan", kLinear, {1, 16384, 0, 16, 32, 128, 128, 4, 0}),
              2, 0.1);
  EXPECT_NEAR(seconds("causal_conv", KernelFamily::causal_conv, {1, 32768, 0, 8192, 4}) /
                  seconds("causal_conv", KernelFamily::causal_conv, {1, 16384, 0, 8192, 4}),
              2, 0.1);
}

TEST(TimedRows, OfTypesThatNoStepHasAreNotAnswered) {
  const System system = system_with("none");
  EXPECT_FALSE(answer_row(system, columns("product", KernelFamily::gemm), "fp64", product()));
  FormColumns collective = columns("product", KernelFamily::gemm);
  collective.family.reset();
  EXPECT_FALSE(answer_row(system, collective, "bf16", product()));
}

TEST(TimedRows, CannotExceedTheRatesOfTheSystem) {
  const TableCeilings ceilings = ceilings_of(system_with("none"));
  EXPECT_EQ(ceilings.memory, 4.8e12);
  EXPECT_EQ(ceilings.peak("bf16"), 989e12);
  EXPECT_EQ(ceilings.peak("fp8_block"), 1979e12);
  EXPECT_EQ(ceilings.l2_bytes, 50.0 * 1024 * 1024);
}

}  // namespace
}  // namespace tiersim::timed_rows_test
