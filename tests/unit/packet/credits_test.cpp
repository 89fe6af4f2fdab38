#include "hwmodels/packet/credits.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/core/engine.hpp"

namespace tiersim::credits_test {
namespace {

struct Grants final : EventHandler {
  void on_event(Engine&, std::uint64_t payload) override { order.push_back(payload); }
  std::vector<std::uint64_t> order;
};

TEST(Credits, AreTakenUpToTheLimit) {
  Credits credits(3);
  EXPECT_TRUE(credits.take(2));
  EXPECT_FALSE(credits.take(2));
  EXPECT_TRUE(credits.take(1));
  EXPECT_EQ(credits.available(), 0);
  EXPECT_EQ(credits.most_held(), 3);
}

TEST(Credits, WaitersGetTheirsInOrderAndNobodyOvertakes) {
  Engine engine;
  Grants grants;
  Credits credits(4);
  ASSERT_TRUE(credits.take(4));
  credits.wait(3, grants, 1);
  credits.wait(1, grants, 2);
  credits.give(engine, 1);  // enough for the second, which must not overtake
  EXPECT_FALSE(credits.take(1));
  engine.run();
  EXPECT_TRUE(grants.order.empty());
  credits.give(engine, 3);
  engine.run();
  EXPECT_EQ(grants.order, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(credits.held(), 4);
}

TEST(Credits, WithoutALimitNeverRunOut) {
  Credits credits(Credits::kUnlimited);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(credits.take(1 << 20));
}

TEST(Credits, IssuedAreReturnedPlusHeldWhateverHappens) {
  Engine engine;
  Grants grants;
  Credits credits(16);
  Rng rng(11, "credits");
  std::int64_t taken = 0;
  std::int64_t given = 0;
  std::uint64_t waited = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto count = static_cast<std::int64_t>(rng.below(5)) + 1;
    if (rng.below(2) == 0) {
      if (credits.take(count))
        taken += count;
      else if (credits.waiting() < 100)
        credits.wait(count, grants, ++waited);
    } else if (count <= credits.held()) {
      credits.give(engine, count);
      given += count;
    }
    engine.run();
    EXPECT_EQ(credits.issued(), credits.returned() + credits.held());
    EXPECT_EQ(credits.returned(), given);
    EXPECT_GE(credits.issued(), taken);
    EXPECT_LE(credits.held(), 16);
  }
  for (std::size_t i = 0; i < grants.order.size(); ++i) EXPECT_EQ(grants.order[i], i + 1);
  EXPECT_GT(grants.order.size(), 100U);
}

}  // namespace
}  // namespace tiersim::credits_test
