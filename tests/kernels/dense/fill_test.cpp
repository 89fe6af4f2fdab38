#include <gtest/gtest.h>

#include "kernels/cases/random.hpp"
#include "kernels/device/fill.cuh"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/fill.cuh"

namespace tiersim::kernels::fill_test {
namespace {

TEST(Fill, MakesTheNumbersThatTheHostWorksOutAgain) {
  DeviceArray<bf16> array(1024, "array");
  Stream stream;
  launch(stream, fill_normal<bf16>, {dim3(2), dim3(32)}, array.data(), std::int64_t{1024},
         std::uint64_t{7});
  const std::vector<bf16> values = array.download();
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(to_float(values[i]), filled_number(7, i)) << i;
  }
}

TEST(Fill, FollowsTheSequenceOfRandom) {
  Random random(7);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(random_normal_at(7, i), random.normal());
}

}  // namespace
}  // namespace tiersim::kernels::fill_test
