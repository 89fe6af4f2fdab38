#include "tests/unit/core/event_order.hpp"

namespace tiersim::event_queue_nightly_test {
namespace {

class EventQueueOrder : public ::testing::TestWithParam<Law> {};

TEST_P(EventQueueOrder, IsThatOfTheReferenceForLong) {
  expect_same_order(GetParam(), 2, 50'000'000);
}

INSTANTIATE_TEST_SUITE_P(Laws, EventQueueOrder, ::testing::ValuesIn(kLaws),
                         [](const auto& param) { return std::string(kLawNames[param.index]); });

}  // namespace
}  // namespace tiersim::event_queue_nightly_test
