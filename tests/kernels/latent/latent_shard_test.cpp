// Planted mistake: lanes_not_paired sums the squares of half the lanes only. The result shows it.
#include <gtest/gtest.h>

#include <memory>

#include "kernels/cases/latent_shard_case.cuh"
#include "tests/kernels/support/emulated_case.hpp"

namespace tiersim::kernels::latent_shard_test {
namespace {

template <int Latent, class In, Mistake Planted = Mistake::none>
MakeCase append(const AppendShape& shape) {
  return [=] { return std::make_unique<AppendLatentCase<Latent, In, Planted>>(shape); };
}

TEST(AppendLatent, NormsTheSliceAndAppendsItWithTheRopePart) {
  expect_right_and_counted(append<256, bf16>({.batch = 6, .context = 100}));
  expect_right_and_counted(append<512, bf16>({.batch = 1, .context = 1}));
}

TEST(AppendLatent, TakesTokensInFp32) {
  expect_right_and_counted(append<512, float>({.batch = 5, .context = 64}));
}

// A mean square of 1e-8 against an epsilon of 1e-6: without it the result is nine times as large.
TEST(AppendLatent, AddsEpsilonToSmallTokens) {
  expect_right_and_counted(append<256, bf16>({.batch = 2, .size = 1e-4F}));
  expect_right_and_counted(append<512, float>({.batch = 1, .size = 1e-4F}));
}

TEST(AppendLatent, FollowsThePageTable) {
  expect_right_and_counted(append<256, bf16>({.batch = 3, .context = 200, .paged = true}));
}

TEST(AppendLatent, PlantedMistakeIsCaught) {
  EXPECT_TRUE((is_caught(append<256, bf16, Mistake::lanes_not_paired>({.batch = 2}))));
}

TEST(JoinShards, AddsWholeRoundsAndTheTail) {
  for (const int numbers : {8, 8 * 256 * 4, 8 * (256 * 4 + 300)}) {
    expect_right_and_counted([=] { return std::make_unique<JoinShardsCase>(1, numbers); });
  }
}

TEST(RmsNormReference, DividesByTheRootOfTheMeanSquareThatTheFactorCorrects) {
  // Mean square (9 + 16) / 2 = 12.5, times 2: 25.
  const std::vector<double> out = reference::rms_norm({3, 4}, {1, 10}, 2, 0);
  EXPECT_NEAR(out[0], 0.6, 1e-12);
  EXPECT_NEAR(out[1], 8, 1e-12);
}

}  // namespace
}  // namespace tiersim::kernels::latent_shard_test
