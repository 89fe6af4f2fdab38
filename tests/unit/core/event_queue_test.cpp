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
    ASSERT_NE(queue.next(), nullptr);
    EXPECT_EQ(queue.next()->time, kLast - 499 + i / 2);
    queue.pop();
  }
  EXPECT_EQ(queue.next(), nullptr);
}

// The refilled run begins after its base; what is filed later must not be lost behind that base.
TEST(EventQueue, TakesEarlierEventsAfterItWasAskedForItsNext) {
  EventQueue queue;
  for (std::uint64_t i = 0; i < 1000; ++i) queue.push({1'000'000 + i, Target()}, 0);
  while (queue.next() != nullptr && queue.next()->time < 1'000'500) queue.pop();
  ASSERT_EQ(queue.next()->time, 1'000'500U);
  for (std::uint64_t i = 0; i < 1000; ++i) queue.push({1'000'499, Target()}, 1'000'499);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_NE(queue.next(), nullptr);
    EXPECT_EQ(queue.next()->time, 1'000'499U);
    queue.pop();
  }
  for (std::uint64_t i = 500; i < 1000; ++i) {
    ASSERT_NE(queue.next(), nullptr);
    EXPECT_EQ(queue.next()->time, 1'000'000 + i);
    queue.pop();
  }
  EXPECT_EQ(queue.next(), nullptr);
}

}  // namespace
}  // namespace tiersim::event_queue_test
