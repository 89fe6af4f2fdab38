// Tables, JSON and goals of the errors of kernels.
#include "reports/calibration/kernel_errors.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "reports/render/table.hpp"

namespace tiersim::kernel_errors_test {
namespace {

// Rows that are 10 % too long, exact, and 20 % too short.
KernelErrors made_up() {
  KernelErrors out{.gpu = "h200",
                   .engine = "engine 1",
                   .table = "gemm",
                   .family = "gemm",
                   .dtype = "bf16",
                   .by = "h200/engine-1",
                   .kernels = 1};
  out.rows = {
      {.measured = 5e-6, .simulated = 5.5e-6, .low = 4e-6, .high = 6e-6},
      {.measured = 50e-6, .simulated = 50e-6, .low = 45e-6, .high = 55e-6},
      {.measured = 500e-6, .simulated = 400e-6, .low = 390e-6, .high = 410e-6, .beyond = true}};
  return out;
}

TEST(KernelErrors, AreOfTheSimulatedTimesAgainstTheMeasuredOnes) {
  const FitErrors errors = errors_of(made_up());
  EXPECT_EQ(errors.rows, 3);
  EXPECT_NEAR(errors.median, 0.1, 1e-12);
  EXPECT_NEAR(errors.p90, 0.2, 0.021);
  EXPECT_NEAR(errors.bias, 0, 1e-12);
}

TEST(KernelErrors, MissAGoalByTheMedianOrTheP90) {
  KernelErrors errors = made_up();
  EXPECT_FALSE(misses_goal(errors)) << "without a goal";
  errors.goal = TableGoal{.types = {"bf16"}, .median = 0.11, .p90 = 0.21};
  EXPECT_FALSE(misses_goal(errors));
  errors.goal->median = 0.09;
  EXPECT_TRUE(misses_goal(errors));
  errors.goal->median = 0.11;
  errors.goal->p90 = 0.15;
  EXPECT_TRUE(misses_goal(errors));
  const std::string text = to_text(kernel_errors_table({errors}));
  EXPECT_NE(text.find("11 / 15 % missed"), std::string::npos) << text;
}

TEST(KernelErrors, AsJsonHaveSharesAndBandsOfTime) {
  KernelErrors errors = made_up();
  errors.noise = 0.006;
  const auto json = nlohmann::json::parse(to_json({errors}));
  const auto& family = json.at("families").at(0);
  EXPECT_EQ(family.at("family"), "gemm");
  EXPECT_EQ(family.at("dtype"), "bf16");
  EXPECT_EQ(family.at("rows"), 3);
  EXPECT_NEAR(family.at("median_abs").get<double>(), 0.1, 1e-12);
  EXPECT_NEAR(family.at("within").get<double>(), 2.0 / 3, 1e-12);
  EXPECT_NEAR(family.at("beyond").get<double>(), 1.0 / 3, 1e-12);
  EXPECT_EQ(family.at("noise"), 0.006);
  EXPECT_EQ(family.at("by_time").size(), 3U) << "bands without rows are left out";
  EXPECT_EQ(family.at("by_time").at(0).at("to_us"), 10);
}

TEST(KernelErrors, HaveAPictureForEachGpu) {
  KernelErrors other = made_up();
  other.gpu = "b200";
  EXPECT_EQ(charts_of({made_up(), made_up(), other}).size(), 2U);
}

}  // namespace
}  // namespace tiersim::kernel_errors_test
