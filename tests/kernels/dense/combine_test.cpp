#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/device/combine.cuh"
#include "kernels/device/combine_work.hpp"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels::combine_test {
namespace {

constexpr float kEmpty = kMinusInfinity;

// Every column of the partial of split s of a row is values[s]; lse by split, for one row.
std::vector<bf16> combined(const std::vector<float>& values, const std::vector<float>& lse) {
  std::vector<float> partial;
  for (const float value : values) partial.insert(partial.end(), 256, value);
  DeviceArray<float> device_partial(partial, "partial");
  DeviceArray<float> device_lse(lse, "lse");
  DeviceArray<bf16> out(256, "out");
  emulator::machine().memory.clear();
  Stream stream;
  launch(stream, combine_splits<256>,
         {dim3(static_cast<unsigned>(combine_blocks(256, 1))), dim3(kCombineThreads)},
         device_partial.data(), device_lse.data(), static_cast<int>(values.size()), 1, out.data());
  return out.download();
}

TEST(CombineSplits, WeighsEachSplitByItsSumOfExponentials) {
  // Weights 3 and 1: (3 * 2 + 1 * 6) / 4 = 3.
  const std::vector<bf16> out = combined({2, 6}, {std::log(3.0F), 0});
  for (const bf16 v : out) EXPECT_EQ(to_float(v), 3);
}

TEST(CombineSplits, LeavesOutEmptySplitsUnread) {
  const float nan = std::nanf("");
  EXPECT_EQ(to_float(combined({nan, 5, nan}, {kEmpty, 80, kEmpty})[255]), 5);
}

TEST(CombineSplits, GivesZeroWhereAllSplitsAreEmpty) {
  EXPECT_EQ(to_float(combined({1, 2}, {kEmpty, kEmpty})[0]), 0);
}

TEST(CombineSplits, JoinsMoreSplitsThanAWarpHasLanes) {
  // 40 splits of equal weight, half of them 1 and half 3.
  std::vector<float> values;
  for (int i = 0; i < 40; ++i) values.push_back(i % 2 == 0 ? 1 : 3);
  EXPECT_EQ(to_float(combined(values, std::vector<float>(40, -500.0F))[7]), 2);
  const emulator::Traffic& counted = emulator::machine().memory.traffic();
  const Work work = combine_splits_work(256, 40, 1, 40);
  EXPECT_EQ(counted.read_bytes, work.read_bytes);
  EXPECT_EQ(counted.written_bytes, work.written_bytes);
  EXPECT_EQ(counted.requested_bytes, work.requested_bytes);
  EXPECT_EQ(counted.flops(), work.issued_flops);
}

TEST(CombineSplits, SurvivesAHighestSplitThatComesLate) {
  std::vector<float> values(40, 1.0F);
  std::vector<float> lse(40, -1000.0F);
  values[39] = 7;
  lse[39] = 1000;
  EXPECT_EQ(to_float(combined(values, lse)[0]), 7);
}

}  // namespace
}  // namespace tiersim::kernels::combine_test
