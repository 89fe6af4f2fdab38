// One million pops per law; 5e7 in event_queue_nightly_test.cpp.
#include "tests/unit/core/event_order.hpp"

namespace tiersim::event_queue_test {
namespace {

class EventQueueOrder : public ::testing::TestWithParam<Law> {};

TEST_P(EventQueueOrder, IsThatOfTheReference) {
  expect_same_order(GetParam(), 1, 1'000'000);
}

INSTANTIATE_TEST_SUITE_P(Laws, EventQueueOrder, ::testing::ValuesIn(kLaws),
                         [](const auto& param) { return std::string(kLawNames[param.index]); });

// From the last picosecond of simulated time, where every digit differs.
TEST(EventQueue, HoldsTheWholeRangeOfTime) {
  constexpr std::uint64_t kLast = (std::uint64_t{1} << 63U) - 1;
  EventQueue queue;
  for (std::uint64_t i = 0; i < 1000; ++i) queue.push({kLast - i % 500, Target()}, 0);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(queue.has_next());
    EXPECT_EQ(queue.front().time, kLast - 499 + i / 2);
    queue.pop();
  }
  EXPECT_FALSE(queue.has_next());
}

// The refilled run begins after its base; what is filed later must not be lost behind that base.
TEST(EventQueue, TakesEarlierEventsAfterItWasAskedForItsNext) {
  EventQueue queue;
  for (std::uint64_t i = 0; i < 1000; ++i) queue.push({1'000'000 + i, Target()}, 0);
  while (queue.has_next() && queue.front().time < 1'000'500) queue.pop();
  ASSERT_EQ(queue.front().time, 1'000'500U);
  for (std::uint64_t i = 0; i < 1000; ++i) queue.push({1'000'499, Target()}, 1'000'499);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(queue.has_next());
    EXPECT_EQ(queue.front().time, 1'000'499U);
    queue.pop();
  }
  for (std::uint64_t i = 500; i < 1000; ++i) {
    ASSERT_TRUE(queue.has_next());
    EXPECT_EQ(queue.front().time, 1'000'000 + i);
    queue.pop();
  }
  EXPECT_FALSE(queue.has_next());
}

// Pushed before the middle of what is pending, and so moved in from the front: behind its equals.
TEST(EventQueue, KeepsTheOrderOfEqualsPushedNearTheFront) {
  EventQueue queue;
  const auto named = [](std::uint64_t name) {
    return Target(Target::Kind::process, reinterpret_cast<const void*>(8 * name));
  };
  for (std::uint64_t i = 0; i < 20; ++i) queue.push({10 + 10 * (i / 2), named(i)}, 0);
  for (std::uint64_t i = 0; i < 5; ++i) queue.pop();  // 30 is next, once
  queue.push({40, named(100)}, 30);
  queue.push({30, named(101)}, 30);
  queue.push({29, named(102)}, 29);
  queue.push({30, named(103)}, 29);
  for (const std::uint64_t name : {102U, 5U, 101U, 103U, 6U, 7U, 100U, 8U}) {
    ASSERT_TRUE(queue.has_next());
    EXPECT_EQ(queue.front().target, named(name));
    queue.pop();
  }
}

}  // namespace
}  // namespace tiersim::event_queue_test
