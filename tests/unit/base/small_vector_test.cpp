#include "sim/base/small_vector.hpp"

#include <gtest/gtest.h>

namespace tiersim::small_vector_test {
namespace {

using Small = SmallVector<int, 3>;

std::vector<int> all(const Small& list) {
  return {list.begin(), list.end()};
}

Small counted(int to) {
  Small out;
  for (int i = 1; i <= to; ++i) out.push_back(i);
  return out;
}

TEST(SmallVector, HoldsElementsInOrderBelowAndAboveItsOwnSpace) {
  EXPECT_TRUE(Small().empty());
  EXPECT_EQ(all(counted(3)), (std::vector{1, 2, 3}));
  EXPECT_EQ(all(counted(5)), (std::vector{1, 2, 3, 4, 5}));
  EXPECT_EQ(counted(4).size(), 4U);
  EXPECT_EQ(counted(4).front(), 1);
  EXPECT_EQ(counted(4).back(), 4);
  EXPECT_EQ(counted(2), (Small{1, 2}));
  EXPECT_FALSE(counted(2) == counted(3));
  EXPECT_FALSE(counted(3) == counted(4));
}

TEST(SmallVector, TakesOneOfItsOwnElements) {
  Small list = counted(3);
  list.push_back(list.front());
  EXPECT_EQ(all(list), (std::vector{1, 2, 3, 1}));
}

TEST(SmallVector, ErasesAllEqualElements) {
  Small list{1, 2, 1};
  list.erase(1);
  EXPECT_EQ(all(list), (std::vector{2}));
  Small many{1, 1, 2, 1, 1};
  many.erase(1);
  EXPECT_EQ(all(many), (std::vector{2}));
  many.push_back(3);
  EXPECT_EQ(all(many), (std::vector{2, 3}));
  Small none{1, 1, 1, 1};
  none.erase(1);
  EXPECT_TRUE(none.empty());
  none.push_back(7);
  EXPECT_EQ(all(none), (std::vector{7}));
}

TEST(SmallVector, CopiesAndMovesItsElements) {
  for (const int size : {2, 5}) {
    Small list = counted(size);
    const Small copy = list;
    const Small moved = std::move(list);
    EXPECT_EQ(moved, copy);
    EXPECT_EQ(moved, counted(size));
    list = copy;  // an object that was moved from takes a new value
    EXPECT_EQ(list, copy);
  }
}

}  // namespace
}  // namespace tiersim::small_vector_test
