#include "sim/config/shared_vector.hpp"

#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tiersim::shared_vector_test {
namespace {

using Shared = SharedVector<int>;

TEST(SharedVector, SharesItsElementsUntilOneCopyChanges) {
  Shared a(std::vector{1, 2});
  Shared b = a;
  EXPECT_EQ(&a[0], &b[0]);
  b.each()[0] = 7;
  EXPECT_EQ(a.get(), (std::vector{1, 2}));
  EXPECT_EQ(b.get(), (std::vector{7, 2}));
  a.edit().push_back(3);
  EXPECT_EQ(a.size(), 3U);
  EXPECT_EQ(b.size(), 2U);
}

TEST(SharedVector, KeepsItsElementsInPlaceWhereItIsTheOnlyCopy) {
  Shared a(std::vector{1, 2});
  const int* first = &a[0];
  a.each()[0] = 5;
  EXPECT_EQ(&a[0], first);
  { const Shared other = a; }
  a.each()[1] = 6;
  EXPECT_EQ(&a[0], first);
  EXPECT_EQ(a.get(), (std::vector{5, 6}));
}

TEST(SharedVector, IsEmptyBeforeAnythingIsAdded) {
  Shared a;
  EXPECT_TRUE(a.empty());
  EXPECT_TRUE(a.each().empty());
  a.edit().push_back(1);
  EXPECT_EQ(a.size(), 1U);
}

// What a thread reads of its copy comes before what the last owner writes, also in the eyes of the
// thread sanitizer.
TEST(SharedVector, MayBeCopiedToOtherThreads) {
  for (int round = 0; round < 200; ++round) {
    Shared last(std::vector{1, 2, 3});
    int sum = 0;
    std::thread reader([&sum, copy = last] { sum = std::accumulate(copy.begin(), copy.end(), 0); });
    last.each()[0] = round;
    reader.join();
    EXPECT_EQ(sum, 6);
    EXPECT_EQ(last[0], round);
  }
}

}  // namespace
}  // namespace tiersim::shared_vector_test
