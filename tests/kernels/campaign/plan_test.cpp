#include "kernels/campaign/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace tiersim::kernels::bench::plan_test {
namespace {

using ::testing::ElementsAre;

TEST(Rotation, CoversFiveTimesL2) {
  const Rotation r = plan_rotation(10'000'000, 10'000'000, 50'000'000, 100'000'000'000);
  EXPECT_EQ(r.sets, 25);
  EXPECT_FALSE(r.flush);
  EXPECT_EQ(plan_rotation(10'000'001, 10'000'001, 50'000'000, 100'000'000'000).sets, 25);
  EXPECT_EQ(plan_rotation(9'999'999, 9'999'999, 50'000'000, 100'000'000'000).sets, 26);
}

// A launch that reads 5 MB of a table of 40 MB leaves those 5 MB in L2, not the table.
TEST(Rotation, CountsWhatIsTouched) {
  EXPECT_EQ(plan_rotation(5'000'000, 40'000'000, 50'000'000, 100'000'000'000).sets, 50);
  const Rotation tight = plan_rotation(5'000'000, 40'000'000, 50'000'000, 1'000'000'000);
  EXPECT_EQ(tight.sets, 15);
  EXPECT_TRUE(tight.flush);
}

// Three sets of 1 GB are made, although 64 would fit.
TEST(Rotation, MakesNoMoreThanCanBeMadeSoon) {
  const Rotation large = plan_rotation(1'000'000, 1'000'000'000, 50'000'000, 1'000'000'000'000);
  EXPECT_EQ(large.sets, 3);
  EXPECT_TRUE(large.flush);
}

TEST(Rotation, TakesOneSetOfACaseBeyondIt) {
  EXPECT_EQ(plan_rotation(20'000'000'000, 20'000'000'000, 50'000'000, 100'000'000'000).sets, 1);
}

TEST(Rotation, FlushesWhereTheSetsAreTooFew) {
  const Rotation small = plan_rotation(1000, 1000, 50'000'000, 100'000'000'000);
  EXPECT_EQ(small.sets, kMostSets);
  EXPECT_TRUE(small.flush);
  const Rotation tight = plan_rotation(100, 100, 1000, 300);  // wants 50 sets, 180 B hold one
  EXPECT_EQ(tight.sets, 1);
  EXPECT_TRUE(tight.flush);
}

TEST(Rotation, RefusesWhatDoesNotFit) {
  EXPECT_THROW(plan_rotation(61, 61, 10, 100), std::runtime_error);
  EXPECT_NO_THROW(plan_rotation(60, 60, 10, 100));
  EXPECT_THROW(plan_rotation(0, 0, 10, 100), std::runtime_error);
}

TEST(SamplePlan, TakesEverythingWhereThereIsTime) {
  const SamplePlan plan = plan_samples(1e-6, 1e-5, 10, {});
  EXPECT_EQ(plan.rounds, 101);
  EXPECT_THAT(plan.nodes, ElementsAre(1, 2, 4, 8, 16, 32));
  EXPECT_FALSE(plan.over_budget);
}

// 101 rounds of 1 + 2 + 4 nodes of 10 ms are 7.07 s; with 8 more nodes 15.15 s.
TEST(SamplePlan, DropsNodesBeforeRounds) {
  const SamplePlan plan = plan_samples(1e-2, 0, 10, {});
  EXPECT_EQ(plan.rounds, 101);
  EXPECT_THAT(plan.nodes, ElementsAre(1, 2, 4));
}

// A round of three nodes of 100 ms is .3 s: 33 fit in 10 s, and 11 are taken even in 1 s.
TEST(SamplePlan, DropsRoundsDownToTheFewest) {
  const SamplePlan plan = plan_samples(0.1, 0, 10, {});
  EXPECT_EQ(plan.rounds, 33);
  EXPECT_THAT(plan.nodes, ElementsAre(1, 2));
  EXPECT_FALSE(plan.over_budget);
  const SamplePlan least = plan_samples(0.1, 0, 1, {});
  EXPECT_EQ(least.rounds, 11);
  EXPECT_TRUE(least.over_budget);
}

TEST(SamplePlan, CountsWhatAReplayCostsBesides) {
  EXPECT_EQ(plan_samples(0, 0.05, 10.2, {}).nodes.size(), 2U);  // 101 x 2 x .05 = 10.1
}

TEST(Shuffled, IsAPermutationThatTheSeedDecides) {
  std::vector<int> order = shuffled(50, 7);
  EXPECT_EQ(order, shuffled(50, 7));
  EXPECT_NE(order, shuffled(50, 8));
  std::sort(order.begin(), order.end());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(HoldOut, TakesEachThirdAndTheLargestOfAKernel) {
  std::vector<Held> cases;
  for (const int size : {70, 10, 50, 30, 20, 60, 40}) {
    cases.push_back({"screen", size, 0, "screen." + std::to_string(size)});
  }
  cases.push_back({"alone", 5, 0, "alone.5"});
  // In order of size: 10 20 [30] 40 50 [60] [70].
  EXPECT_THAT(hold_out(cases), ElementsAre(true, false, false, true, false, true, false, false));
}

TEST(HoldOut, DoesNotDependOnTheOrderOfTheCases) {
  const Held a = {"k", 1, 0, "a"};
  const Held b = {"k", 1, 5, "b"};
  const Held c = {"k", 1, 0, "c"};  // as large as a: the name decides
  EXPECT_THAT(hold_out({a, b, c}), ElementsAre(false, true, false));
  EXPECT_THAT(hold_out({c, b, a}), ElementsAre(false, true, false));
}

}  // namespace
}  // namespace tiersim::kernels::bench::plan_test
