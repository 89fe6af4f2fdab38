// Planted mistake    caught by
// wrong_source       any schedule: a row that is not in the buffer is read there
#include "kernels/cases/hot_gather_case.cuh"

#include <gtest/gtest.h>

#include "tests/kernels/support/emulated_case.hpp"

namespace tiersim::kernels::hot_gather_test {
namespace {

template <class Subject>
MakeCase subject(const HotShape& shape, int blocks) {
  return [=] { return std::make_unique<Subject>(shape, blocks); };
}

HotShape shape_of(std::vector<int> lengths, int misses) {
  return {.batch = static_cast<int>(lengths.size()),
          .context = 150,
          .k = 50,
          .slots = 70,
          .misses = misses,
          .lengths = lengths};
}

TEST(HotGather, FetchesTheMissedRows) {
  expect_right_and_counted(subject<HotGatherCase<false>>(shape_of({150, 51, 13, 1, 0}, 14), 1));
  expect_right_and_counted(subject<HotGatherCase<false>>(shape_of({150, 60}, 9), 3));
}

TEST(HotGather, LaysAllRowsSideBySide) {
  expect_right_and_counted(subject<HotGatherCase<true>>(shape_of({150, 51, 13, 1, 0}, 14), 1));
  expect_right_and_counted(subject<HotGatherCase<true>>(shape_of({150, 60}, 9), 3));
}

TEST(HotGather, FetchesNothingOrAll) {
  for (const int misses : {0, 50}) {
    expect_right_and_counted(subject<HotGatherCase<false>>(shape_of({100}, misses), 2));
    expect_right_and_counted(subject<HotGatherCase<true>>(shape_of({100}, misses), 2));
  }
}

TEST(HotGather, PlantedMistakesAreCaught) {
  const HotShape shape = shape_of({150, 51}, 14);
  EXPECT_FALSE(is_caught(subject<HotGatherCase<true>>(shape, 1)));
  EXPECT_TRUE(is_caught(subject<HotGatherCase<true, Mistake::wrong_source>>(shape, 1)));
  EXPECT_TRUE(is_caught(subject<HotGatherCase<false, Mistake::wrong_source>>(shape, 1)));
}

TEST(HotGather, NoticesARowThatIsNotThere) {
  const auto gather = subject<HotGatherCase<true>>(shape_of({150}, 14), 1)();
  gather->prepare(1, 1);
  EXPECT_FALSE(gather->check(0).holds());  // nothing was copied
}

}  // namespace
}  // namespace tiersim::kernels::hot_gather_test
